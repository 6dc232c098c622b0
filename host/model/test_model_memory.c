/* SPDX-License-Identifier: MIT */
/* The memory hierarchy alone: the sources of data, TLBs, and the effects of instructions on
 * both. */
#include "host/check.h"
#include "host/random.h"
#include "refpmu/model/memory/memory.h"

#define A	0x100000ULL
#define R	MEMORY_REMOTE

static struct memory memory;

/* The page for a test's addresses; by default each address is mapped to itself. */
static struct memory_page fixed_page;
static bool translate(void *ctx, u64 linear, struct memory_page *page)
{
	(void)ctx;
	*page = fixed_page;
	page->physical += linear;
	return true;
}

static const struct memory_tables tables = { translate, NULL };

static void open_shape(const struct memory_shape *shape, u64 seed)
{
	fixed_page = (struct memory_page){ .bits = 12 };
	memory_reset(&memory, shape, seed);
}

static void open_usual(void)
{
	const struct memory_shape shape = memory_usual_shape();

	open_shape(&shape, 0);
}

static struct memory_result load_by(unsigned core, u64 linear)
{
	memory_tick(&memory, core);
	return memory_access(&memory, core, &tables, linear, 8, false, false);
}

static struct memory_result store_by(unsigned core, u64 linear)
{
	memory_tick(&memory, core);
	return memory_access(&memory, core, &tables, linear, 8, true, false);
}

static void act(enum memory_act what, u64 linear)
{
	memory_tick(&memory, 0);
	memory_act(&memory, 0, &tables, what, linear);
}

static void wait(unsigned core)
{
	for (int i = 0; i < 100; i++)
		memory_tick(&memory, core);
}

static void nearer_each_time(void)
{
	open_usual();
	CHECK_EQ(SOURCE_LOCAL_EXCLUSIVE, load_by(0, A).source);
	CHECK_EQ(SOURCE_LFB, load_by(0, A + 8).source, "the same line at once");
	wait(0);
	CHECK_EQ(SOURCE_L1, load_by(0, A + 56).source);
	CHECK_EQ(SOURCE_LOCAL_EXCLUSIVE, load_by(0, A + 64).source, "the next line");
	CHECK_EQ(SOURCE_LOCAL_EXCLUSIVE, store_by(0, A + 4096).source);
	CHECK_EQ(SOURCE_L1, load_by(0, A + 4096).source, "from the store buffer");
}

static void what_leaves_the_l1_is_in_the_l2(void)
{
	open_usual();
	/* Nine lines of one L1 set, eight ways; in eight sets of the L2. */
	for (u64 i = 0; i < 9; i++)
		load_by(0, A + i * 4096);
	wait(0);
	CHECK_EQ(SOURCE_L2, load_by(0, A).source, "pushed out as the oldest");
	wait(0);
	CHECK_EQ(SOURCE_L1, load_by(0, A + 2 * 4096).source);
	/* Nine lines of one L2 set. */
	for (u64 i = 0; i < 9; i++)
		load_by(0, A + 0x10000000 + i * 32768);
	wait(0);
	CHECK_EQ(SOURCE_L3, load_by(0, A + 0x10000000).source);
	/* Seventeen lines of one L3 set: the L3 is inclusive, so the line is in no cache any
	 * more. */
	for (u64 i = 0; i < 17; i++)
		load_by(0, A + 0x20000000 + i * 262144);
	wait(0);
	CHECK_EQ(SOURCE_LOCAL_EXCLUSIVE, load_by(0, A + 0x20000000).source);
}

static void written_lines_come_back(void)
{
	open_usual();
	for (u64 i = 0; i < 40; i++)
		store_by(0, A + i * 4096);
	CHECK_EQ(SOURCE_L3_HITM, load_by(1, A + 39 * 4096).source, "modified in the L1");
	CHECK_EQ(SOURCE_L3_HITM, load_by(1, A).source, "modified in the L2");
}

static void two_of_a_package(void)
{
	open_usual();
	load_by(0, A);
	CHECK_EQ(SOURCE_L3_SNOOP_HIT, load_by(1, A).source);
	/* Core 0 evicts it by other lines of its sets; the L3 isn't informed. */
	for (u64 i = 1; i < 9; i++)
		load_by(0, A + i * 32768);
	memory_forget(&memory, 1);
	CHECK_EQ(SOURCE_L3_SNOOP_MISS, load_by(1, A).source);
	for (u64 i = 9; i < 17; i++)
		load_by(1, A + i * 32768);
	CHECK_EQ(SOURCE_L3, load_by(1, A).source, "known by now");

	CHECK(!store_by(0, A).l1_hit);
	CHECK(store_by(0, A).l1_hit);
	CHECK_EQ(SOURCE_L3_HITM, load_by(1, A).source);
	wait(1);
	CHECK_EQ(SOURCE_L1, load_by(1, A).source);
	CHECK(store_by(0, A).l1_hit, "a shared line is there all the same");
	CHECK_EQ(SOURCE_L3_HITM, load_by(1, A).source, "but no other cache has it afterwards");
}

static void two_packages(void)
{
	struct memory_shape shape = memory_usual_shape();

	open_usual();
	memory.remote_base = A + 0x100000;
	memory.remote_size = 0x100000;
	CHECK_EQ(SOURCE_LOCAL_EXCLUSIVE, load_by(0, A).source);
	CHECK_EQ(SOURCE_REMOTE_EXCLUSIVE, load_by(0, A + 0x100000).source);
	CHECK_EQ(SOURCE_LOCAL_EXCLUSIVE, load_by(0, A + 0x200000).source);
	CHECK_EQ(SOURCE_LOCAL_EXCLUSIVE, load_by(R, A + 0x100040).source, "home of package 1");
	CHECK_EQ(SOURCE_REMOTE_EXCLUSIVE, load_by(R, A + 0x40).source);

	CHECK_EQ(SOURCE_REMOTE_SHARED, load_by(R, A).source, "home is there, so no forwarding");
	CHECK_EQ(SOURCE_REMOTE_CACHE, load_by(0, A + 0x40).source);
	store_by(R, A + 0x80);
	CHECK_EQ(SOURCE_REMOTE_HITM, load_by(0, A + 0x80).source);
	memory_forget(&memory, 0);
	CHECK_EQ(SOURCE_REMOTE_CACHE, load_by(0, A + 0x80).source, "memory is up to date now");

	shape.clean_forward = false;
	open_shape(&shape, 0);
	load_by(R, A);
	CHECK_EQ(SOURCE_LOCAL_SHARED, load_by(0, A).source);
}

static void translations(void)
{
	struct memory_result o;

	open_usual();
	o = load_by(0, A);
	CHECK(o.dtlb_miss && o.stlb_miss);
	o = load_by(0, A + 4088);
	CHECK(!o.dtlb_miss && !o.stlb_miss);
	/* Five pages of one DTLB set, in five STLB sets. */
	for (u64 i = 1; i <= 4; i++)
		load_by(0, A + i * 16 * 4096);
	o = load_by(0, A);
	CHECK(o.dtlb_miss && !o.stlb_miss);
	act(ACT_INVALIDATE_PAGE, A + 5);
	o = load_by(0, A);
	CHECK(o.stlb_miss);
	o = load_by(0, A + 16 * 4096);
	CHECK(!o.stlb_miss, "one page only");
	act(ACT_LOAD_CR3, 0);
	CHECK(load_by(0, A).stlb_miss);
	CHECK(load_by(0, A + 16 * 4096).stlb_miss);
	CHECK(!load_by(0, A).stlb_miss);

	/* Large and global pages. */
	fixed_page.bits = 21;
	fixed_page.global = true;
	CHECK(load_by(0, A).stlb_miss, "another page, of another size");
	CHECK(!load_by(0, A + 0x80000).stlb_miss);
	act(ACT_LOAD_CR3, 0);
	CHECK(!load_by(0, A).dtlb_miss);
	act(ACT_INVALIDATE_PAGE, A + 0x90000);
	CHECK(load_by(0, A).stlb_miss);
	act(ACT_FLUSH_TLB, 0);
	CHECK(load_by(0, A).stlb_miss);
	CHECK(store_by(0, A + 0x200000).stlb_miss, "stores go by the same tables");
}

static void lines_are_physical(void)
{
	open_usual();
	load_by(0, A);
	wait(0);
	fixed_page.physical = 0x10000;
	CHECK_EQ(SOURCE_L1, load_by(0, A - 0x10000).source);
	fixed_page.physical = 0xfff0000000000000;
	CHECK_EQ(SOURCE_L1, load_by(0, A).source, "bits that an address hasn't");
}

static void kinds_of_memory(void)
{
	open_usual();
	fixed_page.type = MEMORY_UNCACHED;
	CHECK_EQ(SOURCE_UNCACHED, load_by(0, A).source);
	CHECK_EQ(SOURCE_UNCACHED, load_by(0, A).source);
	CHECK(!store_by(0, A).l1_hit);
	fixed_page.type = MEMORY_IO;
	CHECK_EQ(SOURCE_IO, load_by(0, A).source);
	act(ACT_PREFETCH_L1, A);
	fixed_page.type = MEMORY_WRITE_BACK;
	CHECK_EQ(SOURCE_LOCAL_EXCLUSIVE, load_by(0, A).source, "nothing was cached");
}

static void what_instructions_do(void)
{
	open_usual();
	act(ACT_PREFETCH_L1, A);
	CHECK_EQ(SOURCE_LFB, load_by(0, A).source);
	act(ACT_PREFETCH_L1, A + 64);
	wait(0);
	CHECK_EQ(SOURCE_L1, load_by(0, A + 64).source);
	act(ACT_PREFETCH_L2, A + 128);
	CHECK_EQ(SOURCE_L2, load_by(0, A + 128).source);
	act(ACT_PREFETCH_OWN, A + 192);
	CHECK_EQ(SOURCE_L3_HITM, load_by(1, A + 192).source);

	act(ACT_FLUSH_LINE, A + 7);
	CHECK_EQ(SOURCE_LOCAL_EXCLUSIVE, load_by(0, A).source);
	load_by(1, A);
	act(ACT_FLUSH_LINE, A);
	CHECK_EQ(SOURCE_LOCAL_EXCLUSIVE, load_by(1, A).source, "from all caches");

	load_by(0, A + 256);
	act(ACT_DRAIN, 0);
	CHECK_EQ(SOURCE_L1, load_by(0, A + 256).source);
	store_by(0, A);
	act(ACT_CLEAN_LINE, A);
	CHECK_EQ(SOURCE_L1, load_by(0, A).source);
	CHECK_EQ(SOURCE_L3_SNOOP_HIT, load_by(1, A).source, "no longer modified");
	act(ACT_FLUSH_ALL, 0);
	CHECK_EQ(SOURCE_LOCAL_EXCLUSIVE, load_by(0, A + 64).source);
	CHECK_EQ(SOURCE_LOCAL_EXCLUSIVE, load_by(1, A).source);
}

static struct memory_result load_at(u64 linear, unsigned bytes, bool locked)
{
	memory_tick(&memory, 0);
	return memory_access(&memory, 0, &tables, linear, bytes, false, locked);
}

static void wide_and_locked(void)
{
	struct memory_result o;
	u32 plain;

	open_usual();
	load_by(0, A);
	load_by(0, A + 64);
	wait(0);
	o = load_at(A + 56, 8, false);
	CHECK(!o.split && o.source == SOURCE_L1);
	plain = o.latency;
	CHECK_EQ(MEMORY_LEAST_LATENCY, plain);
	o = load_at(A + 57, 8, false);
	CHECK(o.split && o.source == SOURCE_L1);
	CHECK(o.latency > plain);
	o = load_at(A + 64 + 60, 8, false);
	CHECK_EQ(SOURCE_LOCAL_EXCLUSIVE, o.source, "the farther of the two");
	CHECK(!o.l1_hit);
	o = load_at(A + 4096 - 4, 8, false);
	CHECK(o.split && o.stlb_miss, "the page after it");
	o = load_at(A, 512, false);
	CHECK(o.split);
	CHECK_EQ(SOURCE_LFB, load_at(A + 448, 8, false).source, "many lines, to the last");
	CHECK(!load_at(A, 0, false).split);

	wait(0);
	o = load_at(A, 8, true);
	CHECK(o.latency > plain);
	CHECK_EQ(SOURCE_L3_HITM, load_by(1, A).source, "a locked load takes the line");
	load_at(A + 0x5000, 8, false);
	CHECK_EQ(SOURCE_L1, load_at(A + 0x5000, 8, true).source, "and waits for its line");
}

static void farther_takes_longer(void)
{
	const struct memory_shape shape = memory_usual_shape();

	CHECK(shape.latency[SOURCE_L1] < shape.latency[SOURCE_L2]);
	CHECK(shape.latency[SOURCE_L2] < shape.latency[SOURCE_L3]);
	CHECK(shape.latency[SOURCE_L3] < shape.latency[SOURCE_L3_HITM]);
	CHECK(shape.latency[SOURCE_L3_HITM] < shape.latency[SOURCE_LOCAL_EXCLUSIVE]);
	CHECK(shape.latency[SOURCE_LOCAL_EXCLUSIVE] < shape.latency[SOURCE_REMOTE_EXCLUSIVE]);
}

/*
 * A few lines and four cores, three of them in one package; no line is ever evicted. Sets of
 * holders give what each access must find. The last core belongs to the other package.
 */
#define AGENTS		4
#define OTHERS(agent)	((agent) == 3 ? 0 : 7 & ~(1U << (agent)))
#define PACKAGE(agent)	((agent) == 3)

struct line_oracle {
	unsigned holders;	/* bit n: agent n has the line */
	unsigned known;		/* processors that may have the line, according to the L3 */
	int writer;		/* the agent with the modified line, or -1 */
	bool in_l3[2], newer[2];
};

static enum memory_source expect(const struct line_oracle *o, unsigned agent, bool forwards)
{
	unsigned package = PACKAGE(agent), others = OTHERS(agent);
	bool there_modified = (o->writer >= 0 && PACKAGE((unsigned)o->writer) != package) ||
			      o->newer[!package];

	if (o->holders & 1U << agent)
		return SOURCE_L1;
	if (o->in_l3[package]) {
		if (o->writer >= 0 && others >> o->writer & 1)
			return SOURCE_L3_HITM;
		if (o->holders & others)
			return SOURCE_L3_SNOOP_HIT;
		return o->known & others ? SOURCE_L3_SNOOP_MISS : SOURCE_L3;
	}
	if (!o->in_l3[!package])
		return package ? SOURCE_REMOTE_EXCLUSIVE : SOURCE_LOCAL_EXCLUSIVE;
	if (there_modified)
		return SOURCE_REMOTE_HITM;
	if (package)
		return SOURCE_REMOTE_SHARED;
	return forwards ? SOURCE_REMOTE_CACHE : SOURCE_LOCAL_SHARED;
}

static void note(struct line_oracle *o, unsigned agent, bool store)
{
	unsigned package = PACKAGE(agent);

	if (o->writer >= 0 && o->writer != (int)agent) {
		unsigned there = PACKAGE((unsigned)o->writer);

		o->newer[there] = there == package;
		o->writer = -1;
	}
	if (!o->in_l3[package]) {
		o->in_l3[package] = true;
		o->newer[!package] = false;
	} else if (!(o->holders & 1U << agent)) {
		o->known &= o->holders | ~OTHERS(agent);
	}
	o->holders |= 1U << agent;
	o->known |= 1U << agent;
	if (store) {
		o->holders = o->known = 1U << agent;
		o->writer = (int)agent;
		o->in_l3[!package] = o->newer[!package] = false;
	}
}

static void many_processors_agree(void)
{
	static const unsigned cores[AGENTS] = { 0, MEMORY_PROGRAMS - 1, MEMORY_NEIGHBOUR, R };
	static struct line_oracle lines[8];
	struct random random = { 1 };
	unsigned seen = 0;

	for (unsigned n = 0; n < 20; n++) {
		struct memory_shape shape = memory_usual_shape();

		shape.clean_forward = n & 1;
		shape.replacement = (u8)(n % SETS_REPLACEMENTS);
		open_shape(&shape, n);
		for (unsigned i = 0; i < 8; i++)
			lines[i] = (struct line_oracle){ .writer = -1 };
		for (unsigned step = 0; step < 2000; step++) {
			u64 draw = random_next(&random);
			unsigned agent = draw & 3, i = draw >> 2 & 7;
			bool store = !(draw >> 8 & 3);
			enum memory_source want, got;

			if (!(draw >> 16 & 31)) {
				memory_act(&memory, cores[agent], &tables, ACT_FLUSH_LINE,
					   A + i * 64);
				lines[i] = (struct line_oracle){ .writer = -1 };
				continue;
			}
			want = expect(&lines[i], agent, shape.clean_forward);
			got = memory_touch(&memory, cores[agent], A + i * 64, store);
			note(&lines[i], agent, store);
			seen |= 1U << got;
			if (!CHECK_EQ(want, got, "step %u, agent %u, line %u", step, agent, i))
				return;
		}
	}
	CHECK_EQ(1U << SOURCE_L1 | 1U << SOURCE_L3_SNOOP_HIT | 1U << SOURCE_L3_HITM |
			 1U << SOURCE_REMOTE_CACHE | 1U << SOURCE_REMOTE_HITM |
			 1U << SOURCE_LOCAL_SHARED | 1U << SOURCE_REMOTE_SHARED |
			 1U << SOURCE_LOCAL_EXCLUSIVE | 1U << SOURCE_REMOTE_EXCLUSIVE,
		 seen, "not everything was met");
}

/* A line that is modified in one cache is in no other cache; every line of a processor is in its
 * L3. */
static const char *rules(void)
{
	const struct memory_shape *shape = &memory.shape;

	for (unsigned c = 0; c < MEMORY_CORES; c++) {
		unsigned package = c == R;
		const struct model_sets l3 = { memory.l3[package], shape->l3_sets, 16, 0 };
		const struct model_sets l3_there = { memory.l3[!package], shape->l3_sets, 16, 0 };
		const u64 *tables_of[2] = { memory.core[c].l1, memory.core[c].l2 };
		const u32 sizes[2] = { shape->l1_sets * 8, shape->l2_sets * 8 };

		for (unsigned t = 0; t < 2; t++)
			for (u32 i = 0; i < sizes[t]; i++) {
				u64 entry = tables_of[t][i], line = sets_key(entry);
				const u64 *in_l3;

				if (!entry)
					continue;
				in_l3 = sets_look(&l3, line);
				if (!in_l3)
					return "not in the L3";
				if (!(*in_l3 & BIT(c)))
					return "not known to the L3";
				if (!(entry & 1))
					continue;
				if (sets_look(&l3_there, line))
					return "modified, and in the other package";
				if (*in_l3 & BITS(0, R) & ~BIT(c))
					return "modified, and with the neighbour";
			}
	}
	return NULL;
}

static void rules_hold_at_random(void)
{
	struct random random = { 77 };
	unsigned seen = 0;

	for (unsigned n = 0; n < 60; n++) {
		struct memory_shape shape = memory_usual_shape();
		const char *wrong = NULL;

		/* Small caches, so that lines are evicted all the time. */
		shape.l1_sets = 1U << n % 3;
		shape.l2_sets = 2U << n % 2;
		shape.l3_sets = 2U << n % 3;
		shape.dtlb_sets = 1;
		shape.stlb_sets = 2;
		shape.replacement = (u8)(n % SETS_REPLACEMENTS);
		shape.spread = n % 7;
		shape.fill_window = n % 5;
		open_shape(&shape, n);
		for (unsigned step = 0; step < 1500 && !wrong; step++) {
			u64 draw = random_next(&random), linear = A + (draw >> 20 & 0x7fff);
			/* The two cores that run programs, and the two that don't. */
			unsigned core = (draw & 1) + (draw & 2 ? MEMORY_NEIGHBOUR : 0);
			struct memory_result o;

			memory_tick(&memory, core);
			if (!(draw >> 2 & 7)) {
				memory_act(&memory, core, &tables,
					   (enum memory_act)((draw >> 5) % MEMORY_ACTS), linear);
			} else if (!(draw >> 2 & 0x3f)) {
				memory_forget(&memory, core);
			} else {
				o = memory_access(&memory, core, &tables, linear,
						  1U << (draw >> 8 & 7), draw >> 12 & 1,
						  !(draw >> 13 & 7));
				seen |= 1U << o.source;
				CHECK(o.latency >= MEMORY_LEAST_LATENCY);
				CHECK(!o.stlb_miss || o.dtlb_miss);
			}
			wrong = rules();
			CHECK(!wrong, "run %u, step %u: %s", n, step, wrong);
		}
	}
	CHECK(seen & 1U << SOURCE_L2 && seen & 1U << SOURCE_L3 && seen & 1U << SOURCE_LFB &&
	      seen & 1U << SOURCE_L3_SNOOP_MISS);
}

static void forgetting_keeps_the_others(void)
{
	open_usual();
	load_by(0, A);
	store_by(1, A + 64);
	load_by(0, A + 128);
	load_by(1, A + 128);
	memory_forget(&memory, 0);
	CHECK_EQ(SOURCE_LOCAL_EXCLUSIVE, load_by(0, A).source);
	CHECK(load_by(0, A + 4096).stlb_miss);
	CHECK_EQ(SOURCE_L3_HITM, load_by(0, A + 64).source);
	CHECK_EQ(SOURCE_L3_SNOOP_HIT, load_by(0, A + 128).source);
}

/* Every core that may run a program belongs to the package and has its own caches. */
static void all_cores_are_apart(void)
{
	open_usual();
	for (unsigned c = 0; c < MEMORY_PROGRAMS; c++)
		CHECK_EQ(c ? SOURCE_L3_SNOOP_HIT : SOURCE_LOCAL_EXCLUSIVE, load_by(c, A).source,
			 "core %u", c);
	wait(3);
	store_by(3, A);
	for (unsigned c = 0; c < MEMORY_PROGRAMS; c++)
		CHECK_EQ(c == 3 ? SOURCE_L1 :
			 c	? SOURCE_L3_SNOOP_HIT :
				  SOURCE_L3_HITM,
			 load_by(c, A).source, "core %u", c);
	memory_act(&memory, 0, &tables, ACT_FLUSH_LINE, A);
	for (unsigned c = 0; c < MEMORY_PROGRAMS; c++) {
		store_by(c, A + 64 * c);
		load_by(0, A + 4096 + 64 * c);
	}
	memory_act(&memory, 7, &tables, ACT_FLUSH_ALL, 0);
	CHECK_EQ(SOURCE_LOCAL_EXCLUSIVE, load_by(5, A + 64 * 3).source);
	open_usual();
	for (unsigned c = 0; c < MEMORY_CORES; c++)
		CHECK_EQ(0, memory.core[c].l1[0], "core %u is empty again", c);
}

/* Each state, as the core for which it was made finds it, whatever the state was before. */
static void lines_are_placed(void)
{
	static const struct {
		enum exerciser_state state;
		enum memory_source here, remote;
	} places[] = {
		{ EXERCISE_NOWHERE, SOURCE_LOCAL_EXCLUSIVE, SOURCE_REMOTE_EXCLUSIVE },
		{ EXERCISE_L3_ONLY, SOURCE_L3, SOURCE_L3 },
		{ EXERCISE_L3_STALE, SOURCE_L3_SNOOP_MISS, SOURCE_L3_SNOOP_MISS },
		{ EXERCISE_OTHER_CLEAN, SOURCE_L3_SNOOP_HIT, SOURCE_L3_SNOOP_HIT },
		{ EXERCISE_OTHER_MODIFIED, SOURCE_L3_HITM, SOURCE_L3_HITM },
		{ EXERCISE_REMOTE_CLEAN, SOURCE_REMOTE_CACHE, SOURCE_REMOTE_SHARED },
		{ EXERCISE_REMOTE_MODIFIED, SOURCE_REMOTE_HITM, SOURCE_REMOTE_HITM },
	};

	for (unsigned before = 0; before < 5; before++)
		for (unsigned p = 0; p < sizeof(places) / sizeof(places[0]); p++) {
			open_usual();
			memory.remote_base = A + 0x100000;
			memory.remote_size = 0x100000;
			for (unsigned remote = 0; remote < 2; remote++) {
				u64 at = A + remote * 0x100000;

				if (before & 1)
					load_by(1, at);
				if (before & 2)
					store_by(0, at);
				if (before == 4)
					store_by(R, at);
				memory_place_begin(&memory);
				CHECK(memory_place(&memory, 0, at, places[p].state), "a state");
				wait(0);
				CHECK_EQ(remote ? places[p].remote : places[p].here,
					 load_by(0, at).source, "state %u, remote %u, before %u",
					 places[p].state, remote, before);
				wait(0);
				CHECK_EQ(SOURCE_L1, load_by(0, at).source, "and then it is near");
			}
		}
	CHECK(!memory_place(&memory, 0, A, (enum exerciser_state)0), "no state");
}

static void a_fill_waits(void)
{
	open_usual();
	CHECK(memory_place(&memory, 0, A, EXERCISE_PENDING), "a state");
	wait(0);
	act(ACT_DRAIN, 0);
	/* More fills than there are fill buffers. */
	for (u64 i = 1; i <= 2 * MEMORY_FILLS; i++)
		load_by(0, A + i * 64);
	CHECK_EQ(SOURCE_LFB, load_by(0, A).source);
	CHECK_EQ(SOURCE_L1, load_by(0, A).source, "the fetch has ended it");
	CHECK(memory_place(&memory, 0, A, EXERCISE_PENDING), "a state");
	CHECK(memory_place(&memory, 0, A + 0x1000, EXERCISE_PENDING), "one at a time");
	CHECK_EQ(SOURCE_L1, load_by(0, A).source);
	CHECK_EQ(SOURCE_LFB, load_by(0, A + 0x1000).source);
	CHECK(memory_place(&memory, 0, A, EXERCISE_PENDING), "a state");
	act(ACT_FLUSH_LINE, A);
	CHECK_EQ(SOURCE_LOCAL_EXCLUSIVE, load_by(0, A).source);
}

/* As many lines as a command may name. */
static void many_lines_stay(void)
{
	for (unsigned n = 0; n < 6; n++) {
		struct memory_shape shape = memory_usual_shape();

		shape.replacement = (u8)(n % SETS_REPLACEMENTS);
		if (n & 1)
			shape.l2_sets /= 2;
		open_shape(&shape, n);
		for (u64 i = 0; i < 3000; i++) {
			store_by(0, A + 0x100000 + i * 64);
			memory_touch(&memory, MEMORY_NEIGHBOUR, A + 0x200000 + i * 64, true);
		}
		memory_place_begin(&memory);
		for (u64 i = 0; i < 1024; i++)
			memory_place(&memory, 0, A + i * 64, EXERCISE_OTHER_MODIFIED);
		for (u64 i = 0; i < 1024; i++)
			CHECK_EQ(SOURCE_L3_HITM, load_by(0, A + i * 64).source, "line %u",
				 (unsigned)i);
	}
}

int main(void)
{
	RUN(nearer_each_time);
	RUN(what_leaves_the_l1_is_in_the_l2);
	RUN(written_lines_come_back);
	RUN(two_of_a_package);
	RUN(two_packages);
	RUN(translations);
	RUN(lines_are_physical);
	RUN(kinds_of_memory);
	RUN(what_instructions_do);
	RUN(wide_and_locked);
	RUN(farther_takes_longer);
	RUN(many_processors_agree);
	RUN(all_cores_are_apart);
	RUN(lines_are_placed);
	RUN(a_fill_waits);
	RUN(many_lines_stay);
	RUN(rules_hold_at_random);
	RUN(forgetting_keeps_the_others);
	return check_end();
}
