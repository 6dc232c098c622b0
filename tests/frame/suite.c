/* SPDX-License-Identifier: MIT */
/*
 * The suite: the rows of tests in the linker's section, and the run's totals. Compilers emit the
 * rows in any order, so they are sorted to get the same order in every build.
 */
#include "tests/frame/suite.h"

#include "kernel/output/console.h"
#include "kernel/output/fmt.h"
#include "kernel/machine/smp.h"
#include "kernel/memory/string.h"
#include "pmu/counter.h"
#include "pmu/exerciser.h"
#include "pmu/found.h"
#include "pmu/inventory.h"
#include "tests/frame/disturbance.h"
#include "tests/frame/glob.h"
#include "tests/frame/needs.h"
#include "tests/frame/old_names.h"
#include "tests/frame/runner.h"

#define MAX_GROUPS	32

/* The selected tests come first, in the order in which they run. */
extern struct test_case tests_begin[] __asm__("__tests_begin")
	__attribute__((visibility("hidden")));
extern struct test_case tests_end[] __asm__("__tests_end") __attribute__((visibility("hidden")));

struct suite {
	const struct suite_config *config;
	struct tap *tap;
	struct verdict_counts counts;
	struct verdict_subject subject, here;	/* for the first processor; for the test's */
	enum platform platform;
	struct tally tally;
	unsigned processors, selected, points;	/* a point for each processor of a test */
	bool too_many;			/* too many groups for first[] */
	const char *old_name;		/* the old name by which a test was selected; NULL: none */
	char new_name[128];		/* its present name */
	unsigned first[MAX_GROUPS + 1];	/* group g: tests_begin[first[g]] to [first[g + 1] - 1] */
	unsigned groups;
	/* The run's progress: all tests before test `next` on processor next_cpu are over. */
	unsigned next, next_cpu;
	bool running;			/* that test has begun */
	char cpu_name[32];
};
static struct suite suite;

/* Groups that later groups rely on come first. */
static const char *const group_order[] = {
	"selftest", "deadly", "calibration", "enumeration", "msr", "count", "pmi", "arm", "record",
	"ds", "priority",
};

static unsigned group_rank(const char *group)
{
	unsigned i;

	for (i = 0; i < sizeof(group_order) / sizeof(group_order[0]); i++)
		if (!strcmp(group, group_order[i]))
			break;
	return i;
}

static bool before(const struct test_case *a, const struct test_case *b)
{
	int order = (int)group_rank(a->group) - (int)group_rank(b->group);

	if (!order)
		order = strcmp(a->group, b->group);
	if (!order)
		order = strcmp(a->file, b->file);
	return order < 0 || (!order && a->line < b->line);
}

/* Does the first of the patterns match the name of a test? */
static bool is_a_name(const char *pattern)
{
	char name[128];

	for (const struct test_case *c = tests_begin; c < tests_end; c++) {
		fmt_print(name, sizeof(name), "%s.%s", c->group, c->claim);
		if (glob_match_first(pattern, name))
			return true;
	}
	return false;
}

/* A pattern that matches no present name may match a name of the last release. */
static const char *old_name_asked_for(const struct suite *s, const struct test_case *c)
{
	const char *pattern = s->config->tests_glob, *old;

	for (; pattern; pattern = glob_next(pattern)) {
		old = old_name_matching(pattern, c->group, c->claim);
		if (old && !is_a_name(pattern))
			return old;
	}
	return NULL;
}

/* Is the test selected by a tag? @ID selects the tests that declare this requirement; @every-fault
 * selects the tests that are marked so. */
static bool is_asked_for_by_tag(const struct suite *s, const struct test_case *c)
{
	for (const char *p = s->config->tests_glob; p; p = glob_next(p)) {
		if (*p != '@')
			continue;
		if (c->under_every_fault && glob_match_first(p + 1, "every-fault"))
			return true;
		for (unsigned i = 0; c->reqs[i]; i++)
			if (glob_match_first(p + 1, requirement_get(c->reqs[i] - 1)->id))
				return true;
	}
	return false;
}

static bool is_asked_for(struct suite *s, const struct test_case *c, const char *name)
{
	const char *old;

	if (is_asked_for_by_tag(s, c))
		return strcmp(c->group, "deadly");
	if (glob_match(s->config->tests_glob, name))
		return strcmp(c->group, "deadly") ||
		       glob_names(s->config->tests_glob, name, "deadly.");
	old = old_name_asked_for(s, c);
	if (old && !s->old_name) {
		s->old_name = old;
		fmt_print(s->new_name, sizeof(s->new_name), "%s", name);
	}
	return old &&
	       (strcmp(c->group, "deadly") || glob_names(s->config->tests_glob, old, "deadly."));
}

/* Insert c among the n sorted rows. The unselected row after them moves to c's old place. */
static void insert(struct test_case *c, unsigned n)
{
	struct test_case *at = &tests_begin[n], inserted = *c;

	*c = *at;
	for (; at > tests_begin && before(&inserted, at - 1); at--)
		*at = at[-1];
	*at = inserted;
}

/* xorshift32: a number below n. */
static u32 draw_below(u32 *state, u32 n)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state % n;
}

/* Shuffle the tests inside each group, in an order drawn from config->order. The order of the
 * groups doesn't change. */
static void shuffle_groups(const struct suite *s)
{
	u32 state = s->config->order * 2654435761u | 1;

	for (unsigned g = 0; s->config->order && g < s->groups; g++)
		for (unsigned i = s->first[g + 1]; i-- > s->first[g] + 1;) {
			unsigned j = s->first[g] + draw_below(&state, i - s->first[g] + 1);
			struct test_case other = tests_begin[i];

			tests_begin[i] = tests_begin[j];
			tests_begin[j] = other;
		}
}

static void select_tests(struct suite *s)
{
	unsigned drawn = 0;

	for (struct test_case *c = tests_begin; c < tests_end; c++) {
		char name[128];

		fmt_print(name, sizeof(name), "%s.%s", c->group, c->claim);
		if (is_asked_for(s, c, name)) {
			drawn += !strcmp(c->group, "random");
			insert(c, s->selected++);
		}
	}
	draw_options_set(&s->config->draw, drawn);
	for (unsigned i = 0; i < s->selected; i++) {
		if (i && !strcmp(tests_begin[i].group, tests_begin[i - 1].group))
			continue;
		s->too_many = s->groups == MAX_GROUPS;
		if (s->too_many)
			break;
		s->first[s->groups++] = i;
	}
	s->first[s->groups] = s->selected;
	shuffle_groups(s);
}

/* Does this test run on that processor? */
static bool runs_on(const struct suite *s, const struct test_case *c, unsigned cpu)
{
	if (smp_is_left_out(cpu))
		return false;
	if (needs_others(c))
		return cpu == CPU_BOOT && !s->config->without_several;
	return s->config->on >> cpu & 1;
}

static unsigned count_points(const struct suite *s)
{
	unsigned points = 0;

	for (unsigned i = 0; i < s->selected; i++)
		for (unsigned cpu = 0; cpu < smp_count(); cpu++)
			points += runs_on(s, &tests_begin[i], cpu);
	return points;
}

/* Print it if it differs from the first processor's. A processor that didn't answer has no data. */
static void print_microcode(const struct suite *s, unsigned cpu)
{
	const struct pmu_caps *caps = counter_caps_of(cpu);

	if (caps->vendor[0] && caps->microcode != counter_caps()->microcode)
		tap_comment(s->tap, "microcode of processor %u: %#x%s", smp_number(cpu),
			    caps->microcode,
			    caps->pebs_microcode ? ", with which PEBS is broken" : "");
}

static void print_processors(const struct suite *s)
{
	for (unsigned cpu = 0; cpu < smp_count(); cpu++) {
		struct topology at = smp_topology(cpu);

		if (smp_is_left_out(cpu))
			continue;
		tap_comment(s->tap,
			    "processor %u: APIC id %#x, thread %u of core %#x, package %u%s",
			    smp_number(cpu), at.apic_id, at.thread, at.core, at.package,
			    caps_core_name(at.kind >> CORE_TYPE_SHIFT));
		print_microcode(s, cpu);
		found_describe(s->tap, cpu);
		if (inventory_is_first_of_kind(cpu))
			found_list(s->tap, cpu);
	}
}

static const char *const judged[] = {
	[PLATFORM_SILICON] = "what the manual says; weaker requirements are reported",
	[PLATFORM_KVM] = "every requirement that can be observed in a guest of KVM",
	[PLATFORM_GUEST] = ("what the manual says of every processor; what is a model's own is "
			    "reported, because no table says what this hypervisor leaves out"),
	[PLATFORM_STRICT] = "every requirement that can be observed here",
};

static enum platform platform_of(const struct pmu_caps *caps)
{
	if (!caps->hypervisor)
		return PLATFORM_SILICON;
	return caps->host.id == HYPERVISOR_KVM ? PLATFORM_KVM : PLATFORM_GUEST;
}

static void print_machine(const struct suite *s)
{
	const struct pmu_caps *caps = counter_caps();

	tap_comment(s->tap, "processor: %s %02x_%02x stepping %u, %s", caps->vendor, caps->family,
		    caps->model, caps->stepping, caps->brand);
	tap_comment(s->tap, "microcode: %#x%s", caps->microcode,
		    caps->pebs_microcode ? ", with which PEBS is broken" : "");
	tap_comment(s->tap, "generation: %s", caps_generation(caps));
	if (!caps->hypervisor)
		tap_comment(s->tap, "platform: no hypervisor (CPUID.01H:ECX[31] = 0, no signature "
				    "from CPUID.40000000H on)");
	else if (!caps->host.leaf)
		tap_comment(s->tap, "platform: a guest, by SMBIOS; CPUID hides its hypervisor");
	else
		tap_comment(s->tap,
			    "platform: hypervisor \"%s\" (CPUID.01H:ECX[31] = %u, "
			    "signature in CPUID.%xH%s%s)",
			    caps->host.signature, caps->hypervisor_bit, caps->host.leaf,
			    caps->host.first[0] ? " after that of " : "", caps->host.first);
	if (caps->msrs_ignored)
		tap_comment(s->tap, "msrs: those that aren't there are answered, without #GP");
	tap_comment(s->tap, "judged: %s", judged[s->platform]);
	tap_comment(s->tap,
		    "perfmon: version %u, %u general-purpose counters of %u bits, "
		    "%u fixed of %u (CPUID.0AH:EAX = %#x EBX = %#x EDX = %#x)",
		    caps->version, counters_gp_number(), caps->gp_width, caps->fixed,
		    caps->fixed_width, caps->leaf_0a_eax, caps->leaf_0a_ebx, caps->leaf_0a_edx);
	tap_comment(s->tap,
		    "pebs: %s, IA32_PERF_CAPABILITIES = %#lx, IA32_MISC_ENABLE = %#lx, "
		    "DS %u, DTES64 %u",
		    caps->pebs ? "available" : "not available", caps->perf_capabilities,
		    caps->misc_enable, caps->ds, caps->dtes64);
	if (exerciser_listed())
		tap_comment(s->tap, "exerciser: %s",
			    exerciser_is_here() ? "answers" :
						  "in the configuration table, doesn't answer");
	inventory_describe(s->tap);
	print_processors(s);
}

static struct verdict_subject subject_of(unsigned cpu)
{
	const struct pmu_caps *caps = counter_caps_of(cpu);

	return (struct verdict_subject){
		.intel = caps->intel, .family = caps->family, .model = caps->model,
		.threads = smp_sibling() != 0,
		.hypervisor = caps->host.signature, .old_kvm = caps->old_kvm,
		.shown = caps->shown ? caps->shown->code : NULL,
		.applicant = { caps->generation ? caps->generation->code : NULL, caps->version,
			       caps->full_width, caps->host.id == HYPERVISOR_KVM, caps->pebs_format,
			       caps->v6.leaf, caps_absent_events(caps) },
	};
}

struct suite *suite_begin(const struct suite_config *config, struct tap *tap)
{
	struct suite *s = &suite;
	const struct pmu_caps *caps;

	memset(s, 0, sizeof(*s));
	s->config = config;
	s->tap = tap;
	select_tests(s);
	tap_begin(tap);
	s->processors = smp_count();
	s->points = count_points(s);
	tap_plan(tap, s->points);
	if (s->old_name)
		tap_comment(tap,
			    "tests: %s is called %s now; the next release doesn't know old "
			    "names",
			    s->old_name, s->new_name);
	exerciser_use(config->exerciser);
	if (!runner_init(config->guest))
		tap_comment(tap, "no memory for the DS save areas, or a processor doesn't answer");
	caps = counter_caps();
	s->platform = config->strict ? PLATFORM_STRICT : platform_of(caps);
	s->subject = subject_of(CPU_BOOT);
	caps_cpu_name(caps, s->cpu_name, sizeof(s->cpu_name));
	print_machine(s);
	return s;
}

unsigned suite_groups(const struct suite *s)
{
	return s->groups;
}

const char *suite_cpu_name(const struct suite *s)
{
	return s->cpu_name;
}

static bool names(const struct test_case *c, enum requirement_id id)
{
	for (unsigned i = 0; c->reqs[i]; i++)
		if (c->reqs[i] == id + 1)
			return true;
	return false;
}

static bool is_selected(const struct suite *s, enum requirement_id id)
{
	for (unsigned i = 0; i < s->selected; i++)
		if (names(&tests_begin[i], id))
			return true;
	return false;
}

/* List the required requirements that aren't decided: skipped, inconclusive, or not reached. */
static void check_required(struct suite *s)
{
	for (unsigned i = 0; i < REQ_COUNT; i++) {
		enum requirement_id id = (enum requirement_id)i;
		const struct requirement *r = requirement_get(id);

		if (!glob_list_has(s->config->require, r->group) || !is_selected(s, id) ||
		    !verdict_applies(r, &s->subject) || tally_decides(&s->tally, id))
			continue;
		s->counts.forbidden++;
		tap_comment(s->tap, "required: %s isn't decided", r->id);
	}
}

/* Does the program have a test of it, is it about this processor, and may it fail here? */
static bool is_decidable(const struct suite *s, enum requirement_id id)
{
	if (verdict_unjudged(requirement_get(id), s->platform, &s->subject))
		return false;
	for (const struct test_case *c = tests_begin; c < tests_end; c++)
		if (names(c, id))
			return true;
	return false;
}

/* Count for "n of m" of the screen, the log and the tools. */
static void count_requirements(struct suite *s)
{
	unsigned decidable = 0, about = 0;
	char reason[96];
	bool monitored = need_monitoring(reason, sizeof(reason));

	s->counts.decided = tally_decided(&s->tally);
	for (unsigned i = 0; i < REQ_COUNT && monitored; i++) {
		enum requirement_id id = (enum requirement_id)i;

		if (applies_with_transactions(requirement_get(id)->generations) &&
		    !counter_caps()->tsx)
			continue;
		about += verdict_applies(requirement_get(id), &s->subject);
		decidable += is_decidable(s, id);
	}
	tap_comment(s->tap,
		    "requirements decided %u of %u decidable here (%u of %u are about "
		    "this processor)",
		    s->counts.decided, decidable, about, (unsigned)REQ_COUNT);
}

/* No test failed, but none decided a requirement either: this must not look like a PASS. */
static void say_not_tested(struct suite *s)
{
	char reason[160] = "";
	bool asked = false;

	if (s->counts.decided)
		return;
	for (unsigned i = 0; i < s->selected; i++)
		asked |= tests_begin[i].reqs[0] != 0;
	if (!asked)
		fmt_print(reason, sizeof(reason), "no selected test is about a requirement");
	else if (need_monitoring(reason, sizeof(reason)))
		fmt_print(reason, sizeof(reason),
			  "each test was skipped or stayed open, its "
			  "point says why");
	tap_comment(s->tap, "NOT TESTED: %s", reason);
}

/* The test's needs are met. before_test() may have given the machine back and taken it again. */
static void about_to_run(void)
{
	suite.running = true;
	suite.config->before_test();
	runner_begin_group();
}

static bool is_in_group(const struct test_case *c, const char *group, size_t length)
{
	for (unsigned i = 0; c->reqs[i]; i++) {
		const struct requirement *r = requirement_get(c->reqs[i] - 1);

		if (r && strlen(r->group) == length && !memcmp(r->group, group, length))
			return true;
	}
	return false;
}

/* A required group without any selected test is reported like a group that was skipped. */
static void check_required_groups(struct suite *s)
{
	const char *word = s->config->require;

	while (word && *word) {
		size_t length = 0;
		bool found = false;
		char group[32];

		while (word[length] && word[length] != ',')
			length++;
		for (unsigned i = 0; i < s->selected && length; i++)
			found |= is_in_group(&tests_begin[i], word, length);
		if (length && !found) {
			fmt_print(group, length < sizeof(group) ? length + 1 : sizeof(group), "%s",
				  word);
			s->counts.forbidden++;
			tap_comment(s->tap, "required: no selected test is of group %s", group);
		}
		word += length + (word[length] == ',');
	}
}

static void set_up(struct suite *s, struct test *test, unsigned n, unsigned cpu)
{
	memset(test, 0, sizeof(*test));
	test->test_case = &tests_begin[n];
	test->tap = s->tap;
	test->platform = s->platform;
	s->here = counter_caps_of(cpu)->vendor[0] ? subject_of(cpu) : s->subject;
	test->subject = &s->here;
	test->cpu = cpu;
	test->before = s->config->before_test ? about_to_run : NULL;
}

/* The test's name in its point: with the processor, if it isn't the first one. */
static void name_test(const struct test_case *c, unsigned cpu, char *name, size_t size)
{
	if (cpu == CPU_BOOT)
		fmt_print(name, size, "%s.%s", c->group, c->claim);
	else
		fmt_print(name, size, "%s.%s@cpu%u", c->group, c->claim, smp_number(cpu));
}

static void say_next_test(const struct suite *s, const struct test_case *c, unsigned cpu)
{
	char name[160];

	if (!s->config->announce)
		return;
	name_test(c, cpu, name, sizeof(name));
	s->config->announce(name);
}

static void run_one(struct suite *s, unsigned n, unsigned cpu)
{
	const struct test_case *c = &tests_begin[n];
	static struct test test;	/* static: its log outlives the stack of an aborted test */
	enum verdict verdict;

	set_up(s, &test, n, cpu);
	say_next_test(s, c, cpu);
	verdict = runner_run(&test);
	s->running = false;
	if (s->config->verbose)
		tap_comment(s->tap, "%u checks held, %lu us", test.checks + test.harness, test.us);
	if (s->config->checks)
		report_checks(&test);
	if (verdict == VERDICT_PASS && !c->reqs[0])
		s->counts.self++;
	else
		verdict_count(&s->counts, verdict);
	runner_tally(&test, verdict, &s->tally);
}

void suite_run_group(struct suite *s, unsigned g)
{
	if (g >= s->groups)
		return;
	runner_begin_group();
	for (unsigned i = s->first[g]; i < s->first[g + 1]; i++)
		for (unsigned cpu = 0; cpu < smp_count(); cpu++) {
			if (i < s->next || (i == s->next && cpu < s->next_cpu) ||
			    !runs_on(s, &tests_begin[i], cpu))
				continue;
			if (s->config->is_ended && s->config->is_ended())
				return;
			s->next = i;
			s->next_cpu = cpu;
			run_one(s, i, cpu);
			s->next_cpu = cpu + 1;
		}
}

/* The state that suite_save() writes. */
struct saved {
	u32 next, next_cpu, running, points, repeats;
	struct verdict_counts counts;
	char name[128];			/* the test that has begun; "": none */
	u8 tally[REQ_COUNT];
};
_Static_assert(sizeof(struct saved) <= SUITE_STATE_MAX, "a state");

size_t suite_save(const struct suite *s, void *state)
{
	struct saved saved = { .next = s->next, .next_cpu = s->next_cpu, .running = s->running,
			       .points = s->tap->points, .repeats = disturbance_repeats(),
			       .counts = s->counts };
	const struct test_case *c = &tests_begin[s->next];

	if (s->running)
		name_test(c, s->next_cpu, saved.name, sizeof(saved.name));
	for (unsigned i = 0; i < REQ_COUNT; i++)
		saved.tally[i] = (u8)s->tally.of[i];
	memcpy(state, &saved, sizeof(saved));
	return sizeof(saved);
}

const char *suite_running(const void *state, size_t length, char *name, size_t size)
{
	struct saved saved = { .running = false };

	if (length == sizeof(saved))
		memcpy(&saved, state, sizeof(saved));
	saved.name[sizeof(saved.name) - 1] = '\0';
	fmt_print(name, size, "%s", saved.running ? saved.name : "");
	return name;
}

bool suite_restore(struct suite *s, const void *state, size_t length, const char *reason)
{
	struct known_issue none = { "", "" };
	static struct test test;
	struct saved saved;

	if (length != sizeof(saved))
		return false;
	memcpy(&saved, state, sizeof(saved));
	if (saved.next >= s->selected + !saved.running || saved.next_cpu > smp_count())
		return false;
	for (unsigned i = 0; i < REQ_COUNT; i++)
		if (saved.tally[i] > VERDICT_ERROR)
			return false;
	s->next = saved.next;
	s->next_cpu = saved.next_cpu;
	s->counts = saved.counts;
	s->tap->points = saved.points;
	disturbance_restore(saved.repeats);
	for (unsigned i = 0; i < REQ_COUNT; i++)
		s->tally.of[i] = (enum verdict)saved.tally[i];
	if (!saved.running)
		return true;
	set_up(s, &test, s->next, s->next_cpu);
	test_error(&test, "%s", reason);
	report_test(&test, VERDICT_ERROR, &none);
	verdict_count(&s->counts, VERDICT_ERROR);
	runner_tally(&test, VERDICT_ERROR, &s->tally);
	s->next_cpu++;
	return true;
}

/* FNV-1a. */
static u32 digest_text(u32 digest, const char *text)
{
	do
		digest = (digest ^ (u8)*text) * 0x01000193u;
	while (*text++);
	return digest;
}

u32 suite_digest(const struct suite_config *config)
{
	u32 digest = 0x811c9dc5u, sum = 0;
	const u32 flags = (u32)config->strict | (u32)config->no_inconclusive << 1 |
			  (u32)config->checks << 2 | config->asked << 3;

	/* The sum doesn't depend on the order in which an earlier selection has left the rows. */
	for (const struct test_case *c = tests_begin; c < tests_end; c++)
		sum += digest_text(digest_text(c->line, c->group), c->claim);
	digest = digest_text(digest, config->tests_glob ? config->tests_glob : "");
	digest = digest_text(digest, config->require ? config->require : "");
	return digest + sum + flags + config->order * 2654435761u;
}

void suite_bail_out(struct suite *s, const char *reason)
{
	tap_bail_out(s->tap, reason);
	s->counts.error++;
}

int suite_end(struct suite *s)
{
	const struct verdict_counts *n = &s->counts;
	unsigned run = n->self + n->pass + n->skip + n->inconclusive + n->known + n->fail +
		       n->error;
	int exit;

	if (&tests_begin[0] == &tests_end[0])
		tap_comment(s->tap, "error: the program holds no tests");
	else if (!s->selected)
		tap_comment(s->tap, "error: no test matches '%s'", s->config->tests_glob);
	if (!s->config->on) {
		tap_comment(s->tap, "error: no processor %u, there are %u", s->config->asked,
			    s->processors);
		s->counts.error++;
	}
	if (smp_lost()) {
		tap_comment(s->tap,
			    "error: processor %u got lost: neither interrupts nor an NMI "
			    "nor an INIT brought it back",
			    smp_number(smp_lost()));
		s->counts.error++;
	}
	if (console_has_bailed_out()) {
		tap_comment(s->tap, "error: a processor has bailed out");
		s->counts.error++;
	}
	if (s->too_many || run < s->points) {
		tap_comment(s->tap, "error: %u of %u tests ran", run, s->points);
		s->counts.error++;
	}
	check_required(s);
	check_required_groups(s);
	if (n->inconclusive && s->config->no_inconclusive) {
		tap_comment(s->tap, "required: no INCONCLUSIVE, there are %u", n->inconclusive);
		s->counts.forbidden++;
	}
	tap_comment(s->tap, "disturbed by SMIs or lost time, and repeated: %u",
		    disturbance_repeats());
	tap_comment(s->tap, "self tests passed: %u", n->self);
	count_requirements(s);
	exit = verdict_exit(&s->counts);
	tap_comment(s->tap,
		    "decided %u, skipped %u, inconclusive %u, known %u, failed %u, errors %u",
		    n->pass + n->known + n->fail, n->skip, n->inconclusive, n->known, n->fail,
		    n->error);
	say_not_tested(s);
	tap_comment(s->tap, "end of PMUTest86: exit %d", exit);
	return exit;
}
