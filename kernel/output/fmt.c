/* SPDX-License-Identifier: MIT */
/*
 * Formatted text: the conversions that this program uses, with the meaning of C's snprintf. An
 * unknown conversion is printed unchanged, so that the mistake is visible in the log. Not handled:
 * floating point, precision, '*', '-', '+' and ' '.
 */
#include "kernel/output/fmt.h"

struct out {
	char *text;
	size_t size, length;	/* length of the whole text, including what didn't fit */
};

struct spec {
	bool zero, alternate;
	unsigned width;
	enum { SIZE_INT, SIZE_LONG, SIZE_LLONG, SIZE_SIZE } size;
};

static void fmt_put(struct out *out, char c)
{
	if (out->length + 1 < out->size)
		out->text[out->length] = c;
	out->length++;
}

static void put_padded(struct out *out, const struct spec *spec, const char *prefix,
		       const char *text, size_t length)
{
	size_t prefix_length = 0, pad = 0;

	while (prefix[prefix_length])
		prefix_length++;
	if (spec->width > length + prefix_length)
		pad = spec->width - length - prefix_length;
	for (; !spec->zero && pad > 0; pad--)
		fmt_put(out, ' ');
	for (size_t i = 0; i < prefix_length; i++)
		fmt_put(out, prefix[i]);
	for (; pad > 0; pad--)
		fmt_put(out, '0');
	for (size_t i = 0; i < length; i++)
		fmt_put(out, text[i]);
}

static void put_number(struct out *out, const struct spec *spec, u64 value, unsigned base,
		       const char *prefix)
{
	char digits[20];	/* 2^64 has 20 decimal digits */
	size_t first = sizeof digits;

	do {
		digits[--first] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	put_padded(out, spec, prefix, digits + first, sizeof digits - first);
}

static void put_string(struct out *out, const struct spec *spec, const char *text)
{
	struct spec blank = *spec;
	size_t length = 0;

	if (!text)
		text = "(null)";
	while (text[length])
		length++;
	blank.zero = false;
	put_padded(out, &blank, "", text, length);
}

/* va_list may be an array type, so the helpers get it inside a struct. */
struct arguments {
	va_list list;
};

static u64 next_unsigned(struct arguments *args, const struct spec *spec)
{
	switch (spec->size) {
	case SIZE_LONG:
		return va_arg(args->list, unsigned long);
	case SIZE_LLONG:
		return va_arg(args->list, unsigned long long);
	case SIZE_SIZE:
		return va_arg(args->list, size_t);
	default:
		return va_arg(args->list, unsigned);
	}
}

static int64_t next_signed(struct arguments *args, const struct spec *spec)
{
	switch (spec->size) {
	case SIZE_LONG:
		return va_arg(args->list, long);
	case SIZE_LLONG:
		return va_arg(args->list, long long);
	case SIZE_SIZE:
		return va_arg(args->list, ptrdiff_t);
	default:
		return va_arg(args->list, int);
	}
}

static const char *parse_spec(const char *format, struct spec *spec)
{
	*spec = (struct spec){ .size = SIZE_INT };
	for (; *format == '0' || *format == '#'; format++) {
		if (*format == '0')
			spec->zero = true;
		else
			spec->alternate = true;
	}
	/* At most 4 digits: a wrong format must not make a line of gigabytes. */
	for (unsigned i = 0; i < 4 && *format >= '0' && *format <= '9'; i++, format++)
		spec->width = spec->width * 10 + (unsigned)(*format - '0');
	if (*format == 'z') {
		spec->size = SIZE_SIZE;
		format++;
	} else if (*format == 'l') {
		spec->size = SIZE_LONG;
		if (*++format == 'l') {
			spec->size = SIZE_LLONG;
			format++;
		}
	}
	return format;
}

/* false: not one of these conversions; no argument was taken. */
static bool convert(struct out *out, struct arguments *args, struct spec *spec, char conversion)
{
	char c;
	int64_t number;
	u64 value;

	switch (conversion) {
	case 'd':
	case 'i':
		number = next_signed(args, spec);
		value = number < 0 ? 0 - (u64)number : (u64)number;
		put_number(out, spec, value, 10, number < 0 ? "-" : "");
		return true;
	case 'u':
		put_number(out, spec, next_unsigned(args, spec), 10, "");
		return true;
	case 'x':
		value = next_unsigned(args, spec);
		put_number(out, spec, value, 16, spec->alternate && value ? "0x" : "");
		return true;
	case 'p':
		put_number(out, spec, (u64)(uintptr_t)va_arg(args->list, void *), 16, "0x");
		return true;
	case 'c':
		c = (char)va_arg(args->list, int);
		spec->zero = false;
		put_padded(out, spec, "", &c, 1);
		return true;
	case 's':
		put_string(out, spec, va_arg(args->list, const char *));
		return true;
	case '%':
		fmt_put(out, '%');
		return true;
	default:
		return false;
	}
}

int fmt_vprint(char *text, size_t size, const char *format, va_list list)
{
	struct out out = { text, size, 0 };
	struct arguments args;

	va_copy(args.list, list);
	while (*format) {
		struct spec spec;
		const char *end;

		if (*format != '%') {
			fmt_put(&out, *format++);
			continue;
		}
		end = parse_spec(format + 1, &spec);
		if (convert(&out, &args, &spec, *end)) {
			format = end + 1;
			continue;
		}
		while (format < end)
			fmt_put(&out, *format++);
	}
	va_end(args.list);
	if (size > 0)
		text[out.length < size ? out.length : size - 1] = '\0';
	return (int)out.length;
}

int fmt_print(char *text, size_t size, const char *format, ...)
{
	va_list args;
	int length;

	va_start(args, format);
	length = fmt_vprint(text, size, format, args);
	va_end(args);
	return length;
}
