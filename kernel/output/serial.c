/* SPDX-License-Identifier: MIT */
/*
 * 16550 UART (PC16550D data sheet, "Registers"). The owner's divisor isn't changed, because the
 * base clock isn't 1.8432 MHz on every machine. If no divisor is set, it is set to 115200 baud with
 * that clock. The FIFO control register isn't written: it can't be read, so it couldn't be
 * restored. Not handled: flow control, input.
 */
#include "kernel/processor/cpu.h"
#include "kernel/output/serial.h"
#include "kernel/processor/time.h"

enum { THR = 0, DLL = 0, IER = 1, DLM = 1, LCR = 3, MCR = 4, LSR = 5 };

#define LCR_8N1		0x03
#define LCR_DLAB	0x80
#define MCR_DTR_RTS	0x03
#define LSR_THRE	0x20
#define LSR_ABSENT	0xff		/* what an empty bus reads as */
#define DIVISOR_115200	1

#define PUT_TIMEOUT_US	10000

struct uart {
	u8 ier, lcr, mcr, dll, dlm;
};

static u16 uart_port;
static struct uart saved;

static u8 serial_read_reg(unsigned reg)
{
	return port_read8((u16)(uart_port + reg));
}

static void serial_write_reg(unsigned reg, u8 value)
{
	port_write8((u16)(uart_port + reg), value);
}

static void set_divisor(u8 low, u8 high)
{
	u8 lcr = serial_read_reg(LCR);

	serial_write_reg(LCR, lcr | LCR_DLAB);
	serial_write_reg(DLL, low);
	serial_write_reg(DLM, high);
	serial_write_reg(LCR, lcr);
}

static bool is_empty(void *arg)
{
	(void)arg;
	return serial_read_reg(LSR) & LSR_THRE;
}

void serial_init(u16 port)
{
	uart_port = port;
	if (port && serial_read_reg(LSR) == LSR_ABSENT)
		uart_port = 0;
}

bool serial_is_there(void)
{
	return uart_port;
}

void serial_borrow(void)
{
	u8 lcr;

	if (!uart_port)
		return;
	/* Characters that the owner has sent are transmitted at the owner's speed. */
	wait_until(is_empty, NULL, PUT_TIMEOUT_US);
	lcr = serial_read_reg(LCR);
	serial_write_reg(LCR, lcr | LCR_DLAB);
	saved = (struct uart){ .lcr = lcr,
			       .mcr = serial_read_reg(MCR),
			       .dll = serial_read_reg(DLL),
			       .dlm = serial_read_reg(DLM) };
	serial_write_reg(LCR, LCR_8N1);
	saved.ier = serial_read_reg(IER);
	serial_write_reg(IER, 0);
	serial_write_reg(MCR, MCR_DTR_RTS);
	if (!saved.dll && !saved.dlm)
		set_divisor(DIVISOR_115200, 0);
}

void serial_return(void)
{
	if (!uart_port)
		return;
	wait_until(is_empty, NULL, PUT_TIMEOUT_US);
	if (!saved.dll && !saved.dlm)
		set_divisor(0, 0);
	serial_write_reg(MCR, saved.mcr);
	serial_write_reg(IER, saved.ier);
	serial_write_reg(LCR, saved.lcr);
}

bool serial_put(char c)
{
	if (!uart_port)
		return true;
	if (!wait_until(is_empty, NULL, PUT_TIMEOUT_US))
		return false;
	serial_write_reg(THR, (u8)c);
	return true;
}
