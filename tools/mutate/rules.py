# SPDX-License-Identifier: MIT
"""The mutants of a function: text that is exchanged, negated, left out, doubled or executed late.

Not mutated: what is worked out when the program is compiled; calls of hooks (refpmu/model/hooks.h),
which do nothing on a correct processor, but for the value that one hands through; which knob of
latitude and which facility of a generation is asked for.
"""
import re

MASK64 = 0xffffffffffffffff
# "An Improved Logic for Mutating Relational Operators" (Kaminski, Ammann, Offutt): what these three
# don't show no other exchange shows. True and false are those of conditions.
RELATIONS = {"<": ("<=", "!="), ">": (">=", "!="), "<=": ("<", "=="), ">=": (">", "=="),
             "==": ("<=", ">="), "!=": ("<", ">")}
TRUE_TOO = ("<=", ">=", "!=")
ASSIGNMENTS = {"|=": "=", "+=": "-=", "-=": "+=", "^=": "="}
REPEATS = ("+=", "-=", "^=", "<<=", ">>=", "++", "--")
BIT_OPERATORS = ("&", "|", "^", "~", "&=", "|=", "^=")
NARROWER = {64: (48, 32, 16), 32: (16,)}
# Enumerators that say what is asked for, not what it is.
QUESTIONS = ("LAT_", "FAC_", "FACT_", "CAP_", "REG_", "OF_")
HOOK = "fault_"
SKIPPED_CALLS = ("__atomic_", "__builtin_", "__sync_")
STATEMENTS = ("COMPOUND_STMT", "IF_STMT", "WHILE_STMT", "DO_STMT", "FOR_STMT", "SWITCH_STMT",
              "CASE_STMT", "DEFAULT_STMT", "RETURN_STMT", "DECL_STMT", "BREAK_STMT",
              "CONTINUE_STMT", "NULL_STMT", "LABEL_STMT", "GOTO_STMT")
MOST_BITS = 8


class Mutant:
    """One change: edits are (start, end, text) of its file."""

    def __init__(self, kind, edits, original, mutated):
        self.kind, self.edits = kind, edits
        self.original, self.mutated = (" ".join(text.split()) for text in (original, mutated))
        self.number, self.point, self.same = 0, None, ""
        self.which = ""     # " (2)": the second of its function that reads the same

    @property
    def key(self):
        """What names it in tables: nothing that changes when lines are added elsewhere."""
        point = self.point
        return (point.source.path, point.function, self.kind, self.original + self.which,
                self.mutated)


class Point:
    """A place with its mutants: an expression, a condition among them (its value is true or false),
    or a statement."""

    def __init__(self, source, function, start, end, line):
        self.source, self.function, self.start, self.end = source, function, start, end
        self.line, self.mutants, self.condition, self.statement = line, [], False, False
        self.number, self.first = 0, 0


class Function:
    """A function's points. after: offset to the statements that come late there."""

    def __init__(self, node):
        self.node, self.name, self.source = node, node.cursor.spelling, node.source
        self.points, self.late = {}, {}
        self.returns_bool = node.cursor.result_type.get_canonical().kind.name == "BOOL"
        self.body = next((child for child in node.children() if child.kind == "COMPOUND_STMT"),
                         None)
        if self.body and self.body.here():
            self.last = self.body.end - 1
            self.compound(self.body)

    # ------------------------------------------------------------ points

    def point(self, start, end, statement=False):
        key = (start, end, statement)
        if key not in self.points:
            line = self.source.bytes.count(b"\n", 0, start) + 1
            self.points[key] = Point(self.source, self.name, start, end, line)
            self.points[key].statement = statement
        return self.points[key]

    def add(self, point, kind, text, edits=None, mutated=None):
        original = self.source.text(point.start, point.end)
        mutant = Mutant(kind, edits or [(point.start, point.end, text)], original,
                        text if mutated is None else mutated)
        if all(one.edits != mutant.edits for one in point.mutants):
            mutant.point = point
            point.mutants.append(mutant)
        return mutant

    def replace(self, node, kind, *texts):
        point = self.point(node.start, node.end)
        for text in texts:
            self.add(point, kind, text)

    # ------------------------------------------------------------ statements

    def statement_end(self, node):
        """After the semicolon of an expression statement, or 0."""
        match = re.compile(rb"\s*;").match(self.source.bytes, node.end)
        return match.end() if match else 0

    def compound(self, node):
        children = node.children()
        for at, child in enumerate(children):
            self.statement(child, children[at + 1] if at + 1 < len(children) else None)

    def statement(self, node, following=None):
        if not node.source or node.source is not self.source or not node.here() or node.macro:
            return
        if node.kind in STATEMENTS:
            getattr(self, node.kind.lower(), self.nothing)(node)
        else:
            self.expression_statement(node, following)

    def nothing(self, node):
        pass

    def compound_stmt(self, node):
        self.compound(node)

    def if_stmt(self, node):
        condition, *parts = node.children()
        if re.search(r"->trace\b", condition.text):
            return                  # for the model's host tests alone
        self.condition(condition)
        for part in parts:
            self.statement(part)

    def while_stmt(self, node):
        condition, body = node.children()
        self.condition(condition, loop=True)
        self.statement(body)

    def do_stmt(self, node):
        body, condition = node.children()
        self.condition(condition, loop=True)
        self.statement(body)

    def for_stmt(self, node):
        children = node.children()
        text = self.source.bytes
        first = text.index(b";", children[0].start if children[0].kind != "DECL_STMT"
                           else children[0].end - 1)
        second = text.index(b";", first + 1)
        for child in children[:-1]:
            if child.kind == "DECL_STMT":
                self.decl_stmt(child)
            elif child.end <= first:
                self.assignment(child)
            elif child.end <= second:
                self.condition(child, loop=True)
            else:
                self.assignment(child)
        self.statement(children[-1])

    def switch_stmt(self, node):
        value, body = node.children()
        self.expression(value)
        self.statement(body)

    def case_stmt(self, node):
        self.statement(node.children()[-1])

    default_stmt = label_stmt = case_stmt

    def leave_out(self, node, end):
        point = self.point(node.start, end, statement=True)
        self.add(point, "left out", ";")
        return point

    def is_last(self, end):
        """Of the function?"""
        return not self.source.text(end, self.last).strip()

    def jump(self, node):
        end = self.statement_end(node)
        if end and not self.is_last(end):
            self.leave_out(node, end)

    break_stmt = continue_stmt = jump

    def return_stmt(self, node):
        self.jump(node)
        for value in node.children():
            if self.returns_bool:
                self.condition(value)
            else:
                self.expression(value)
                self.narrow(value)

    def decl_stmt(self, node):
        for variable in node.children():
            parts = variable.children()
            if variable.kind != "VAR_DECL" or not parts or "static" in node.text.split():
                continue
            value = parts[-1]
            if value.kind.endswith("_REF") or variable.text.count("=") == 0:
                continue
            self.assigned(value, variable.is_bool())

    # ------------------------------------------------------------ statements that are expressions

    def called(self, node):
        """Name of the function that it calls, or ""."""
        node = node.bare()
        return node.cursor.spelling or "*" if node.kind == "CALL_EXPR" else ""

    def hands_through(self, node, target):
        """Is it a hook that hands a value through to where that was before?"""
        call = node.bare()
        if not self.called(node).startswith(HOOK):
            return False
        children = call.children()
        return children[-1].text == target

    def late_after(self, node, end, following):
        """Where it would come after the statement that follows, if the order may matter; or 0."""
        if following is None or following.kind in ("RETURN_STMT", "DECL_STMT", "BREAK_STMT",
                                                   "CONTINUE_STMT", "LABEL_STMT", "CASE_STMT"):
            return 0
        if not following.here() or following.source is not self.source or following.macro:
            return 0
        text = following.text
        if re.search(r"\b(return|break|continue|goto)\b", text) or HOOK in text:
            return 0
        target = re.split(r"[-+|&^<>]?=(?!=)", node.text)[0].strip()
        name = re.split(r"->|\.", target)[-1].split("[")[0]
        calls = "(" in text and re.search(r"\b[a-z_0-9]+\(", text)
        if "=" in node.text:
            if name not in text and not (calls and ("->" in target or "." in target)):
                return 0
        elif not calls and "=" not in text:
            return 0
        if following.kind in STATEMENTS:
            last = following.end
            if self.source.bytes[last - 1:last] != b"}":
                last = self.statement_end(following)
            return last
        return self.statement_end(following)

    def expression_statement(self, node, following):
        end = self.statement_end(node)
        name = self.called(node)
        if not end or name.startswith(SKIPPED_CALLS) or "->trace(" in node.text:
            return
        if name.startswith(HOOK):
            self.hook(node.bare())
            return
        children = node.children()
        operator = node.operator(children) if "OPERATOR" in node.kind and len(children) == 2 else \
            node.prefix(children[0]) if node.kind == "UNARY_OPERATOR" else ""
        if operator == "=" and self.hands_through(children[1], children[0].text):
            self.assignment(node)
            return
        text = self.source.text(node.start, end)
        point = self.leave_out(node, end)
        if name or operator in REPEATS:
            self.add(point, "doubled", f"{{ {text} {text} }}", mutated="twice")
        target = children[0].text if children else ""
        if operator == "=" and re.search(r"->|\.", target) and children[0].bits() >= 32 and \
                not children[1].text.startswith("(struct"):
            self.add(point, "kept", f"{target} |= {children[1].text};")
        if operator in ASSIGNMENTS:
            self.add(point, "operator", f"{target} {ASSIGNMENTS[operator]} {children[1].text};")
        if operator in ("++", "--"):
            other = "--" if operator == "++" else "++"
            self.add(point, "operator", text.replace(operator, other))
        late = self.late_after(node, end, following)
        if late:
            mutant = self.add(point, "late", "", mutated="after the next statement",
                              edits=[(node.start, end, ";"), (late, late, f" {text}")])
            if mutant.point:
                self.late.setdefault(late, []).append(mutant)
        self.assignment(node)

    def assignment(self, node):
        """What is in an expression that is a statement, but not the statement."""
        children = node.children()
        if node.kind == "COMPOUND_ASSIGNMENT_OPERATOR":
            operator = node.operator(children)
            self.target(children[0])
            self.expression(children[1], operator)
            self.bit_position(children[1])
        elif node.kind == "BINARY_OPERATOR" and node.operator(children) == "=":
            self.target(children[0])
            self.assigned(children[1], children[0].is_bool(),
                          bool(re.search(r"->|\.", children[0].text)))
        elif node.kind == "UNARY_OPERATOR" and children:
            self.target(children[0])
        else:
            self.expression(node)

    def assigned(self, value, is_bool, state=False):
        if is_bool:
            self.condition(value)
            return
        self.expression(value)
        if state:
            self.narrow(value)

    # ------------------------------------------------------------ expressions

    def condition(self, node, loop=False, inside=""):
        """A value that is true or false. inside: the operator && or || that it is an operand of."""
        if not node.source or node.source is not self.source or not node.here():
            return
        bare = node.bare()
        text = bare.text
        value = bare.value()
        if value is not None:
            if text in ("true", "false", "0", "1"):
                self.replace(bare, "condition", "0" if value else "1")
                self.point(bare.start, bare.end).condition = True
            return
        operator = ""
        children = bare.children() if not bare.macro else []
        if bare.kind == "BINARY_OPERATOR":
            operator = bare.operator(children)
        if operator == "=":
            self.assignment(bare)
            return
        self.point(bare.start, bare.end).condition = True
        if operator not in RELATIONS:
            self.replace(bare, "condition", f"!({text})")
        if not loop and (inside != "||" or operator in TRUE_TOO):
            self.replace(bare, "condition", "1")
        if inside != "&&":
            self.replace(bare, "condition", "0")
        if bare.macro:
            return
        if operator in ("&&", "||"):
            for child in children:
                self.condition(child, loop=loop and operator == "||", inside=operator)
        elif bare.kind == "UNARY_OPERATOR" and bare.prefix(children[0]) == "!":
            self.condition_inside(children[0])
        else:
            self.expression(bare)

    def condition_inside(self, node):
        """What is negated: its own parts, as it is itself a part."""
        bare = node.bare()
        children = bare.children() if not bare.macro else []
        if bare.kind == "BINARY_OPERATOR" and bare.operator(children) in ("&&", "||"):
            operator = bare.operator(children)
            for child in children:
                self.condition(child, inside=operator)
        else:
            self.expression(bare)

    def constant(self, node, value, parent):
        """A constant: a bit more or less, or one more and one less."""
        text = node.text
        if text in ("NULL", "true", "false") or text.startswith(QUESTIONS):
            return
        bits = max(node.bits(), 1)
        if parent in BIT_OPERATORS or "BIT" in text or text.lower().startswith("0x"):
            full = MASK64 >> (64 - bits)
            value &= full
            if value in (full, 0):
                if value:
                    self.replace(node, "width", *(f"({text} & {MASK64 >> (64 - width):#x}ULL)"
                                                  for width in NARROWER.get(bits, ())))
                return
            held = [bit for bit in range(bits) if value >> bit & 1]
            if len(held) > MOST_BITS:
                held = [held[0], held[len(held) // 2], held[-1]]
            for bit in held:
                self.replace(node, "bit", f"({text} & ~(1ULL << {bit}))")
            for bit in (held[0] - 1, held[-1] + 1):
                if 0 <= bit < bits:
                    self.replace(node, "bit", f"({text} | 1ULL << {bit})")
            return
        self.replace(node, "constant", f"({text} + 1)")
        if value:
            self.replace(node, "constant", f"({text} - 1)")

    def bit_position(self, node):
        """BIT(i): that of another index."""
        bare = node.bare()
        if bare.macro in ("BIT", "BITS") and bare.value() is None:
            self.replace(bare, "index", f"({bare.text} << 1)", f"({bare.text} >> 1)")

    def narrow(self, node):
        """A value that is kept or handed on: fewer bits."""
        bare = node.bare()
        if bare.value() is None and bare.bits() in NARROWER and bare.type_kind() != "ENUM" and \
                bare.kind not in ("CONDITIONAL_OPERATOR", "INIT_LIST_EXPR"):
            self.replace(bare, "width", *(f"(({bare.text}) & {MASK64 >> (64 - width):#x}ULL)"
                                          for width in NARROWER[bare.bits()]))

    def expression(self, node, parent=""):
        if not node.source or node.source is not self.source or not node.here():
            return
        value = node.value()
        if value is not None and not node.is_bool():
            self.constant(node.bare() if not node.macro else node, value, parent)
            return
        if node.macro:
            self.bit_position(node)
            return
        getattr(self, "on_" + node.kind.lower(), self.others)(node, parent)

    def others(self, node, parent):
        for child in node.children():
            self.expression(child, parent if node.kind in ("UNEXPOSED_EXPR", "PAREN_EXPR") else "")

    def on_string_literal(self, node, parent):
        pass

    on_cxx_unary_expr = on_string_literal

    def on_binary_operator(self, node, parent):
        children = node.children()
        operator = node.operator(children)
        if operator == "=":
            self.assignment(node)
            return
        if operator in ("&&", "||"):
            self.condition(node)
            return
        for other in RELATIONS.get(operator, ()):
            self.replace(node, "comparison", f"{children[0].text} {other} {children[1].text}")
        if operator in ("+", "-") and node.bits():
            other = "-" if operator == "+" else "+"
            self.replace(node, "operator", f"({children[0].text} {other} {children[1].text})")
        for child in children:
            self.expression(child, operator)

    def on_unary_operator(self, node, parent):
        child = node.children()[0]
        operator = node.prefix(child)
        if operator == "!":
            self.condition_inside(child)
        elif operator in ("&", "++", "--"):
            self.target(child)
        else:
            self.expression(child, operator)

    def on_conditional_operator(self, node, parent):
        condition, *values = node.children()
        self.condition(condition)
        for value in values:
            self.expression(value, parent)

    def on_array_subscript_expr(self, node, parent):
        self.target(node)

    def on_member_ref_expr(self, node, parent):
        self.target(node)

    def target(self, node):
        """Something that is changed, or whose address is taken: only which one it is varies."""
        node = node.bare()
        if not node.source or node.macro or not node.here():
            return
        children = node.children()
        if node.kind == "ARRAY_SUBSCRIPT_EXPR":
            self.target(children[0])
            self.index(children[1], children[0].bare().cursor.type.element_count
                       if children[0].bare().type_kind() == "CONSTANTARRAY" else 0)
        elif node.kind == "MEMBER_REF_EXPR":
            if node.cursor.spelling == "thread" and node.bits():
                self.replace(node, "index", f"!{node.text}")
            for child in children:
                self.target(child)
        elif node.kind in ("CALL_EXPR", "BINARY_OPERATOR", "CONDITIONAL_OPERATOR"):
            self.expression(node)
        elif node.kind in ("UNARY_OPERATOR", "CSTYLE_CAST_EXPR"):
            for child in children:
                self.target(child)

    def index(self, node, size):
        bare = node.bare()
        text = bare.text
        if bare.value() is not None:
            if bare.kind == "INTEGER_LITERAL" and size > 1:
                self.replace(bare, "index", str((bare.value() + 1) % size))
            return
        self.replace(bare, "index", f"(({text}) ? ({text}) - 1 : 1)")
        if size > 1:
            self.replace(bare, "index", f"(({text}) + 1) % {size}")
        if bare.kind != "DECL_REF_EXPR":
            self.expression(bare)

    def hook(self, call):
        """Nothing but the value that it hands through."""
        if call.cursor.type.get_canonical().kind.name == "VOID":
            return
        value = call.children()[-1]
        if call.is_bool():
            self.condition(value)
        else:
            self.expression(value)

    def on_call_expr(self, node, parent):
        name = self.called(node)
        if name.startswith(HOOK):
            self.hook(node)
            return
        if name.startswith(SKIPPED_CALLS):
            if "ctz" in name:
                for child in node.children()[1:]:
                    self.expression(child)
            return
        for child in node.children()[1:]:
            self.argument(child)

    def argument(self, child):
        bare = child.bare()
        if child.is_bool():
            self.condition(child)
        elif bare.kind == "DECL_REF_EXPR" and bare.type_kind() in ("UINT", "INT") and \
                bare.value() is None:
            text = bare.text
            self.replace(bare, "index", f"({text} ? {text} - 1 : 1)")
        else:
            self.expression(child)
            if child.bits() == 64 and bare.kind != "DECL_REF_EXPR":
                self.narrow(child)

    def on_unexposed_expr(self, node, parent):
        children = node.children()
        if node.text.startswith("[") and children:     # = of an array's element
            self.expression(children[-1])
            return
        if children and children[0].kind == "MEMBER_REF":
            named = children[0].cursor.referenced
            self.assigned(children[-1], bool(named) and
                          named.type.get_canonical().kind.name == "BOOL", True)
            return
        self.others(node, parent)

    def on_compound_literal_expr(self, node, parent):
        for child in node.children():
            if child.kind == "INIT_LIST_EXPR":
                self.expression(child)
