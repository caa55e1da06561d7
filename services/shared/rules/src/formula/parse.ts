import { BUILT_INS } from "./functions.ts";
import {
  type ComparisonOperator,
  FormulaSyntaxError,
  type Node,
  type Operator,
  type SwitchCase,
} from "./syntax.ts";
import { type Token, tokenize } from "./tokenize.ts";

/** A parsed formula, which can be evaluated repeatedly. */
export type Formula = {
  readonly root: Node;
  /** Whether an operand reads the line that is being discounted. */
  readonly readsLine: boolean;
  /** The operands that the formula reads, without keys of metadata. */
  readonly names: ReadonlySet<string>;
  /** Maximum number of evaluation steps: one per part, more per power. */
  readonly steps: number;
};

export type ParsedFormula =
  | { readonly kind: "formula"; readonly formula: Formula }
  | { readonly kind: "violation"; readonly text: string };

const MAX_LENGTH = 1000;
const MAX_NODES = 200;
/** Nested parentheses, arguments and signs. */
const MAX_DEPTH = 32;

/** Maximum number of multiplications of a power. */
const POWER_STEPS = 20;

/** Parsing costs much more than evaluation, and a project has few formulas. */
const CACHE_SIZE = 500;
const cache = new Map<string, ParsedFormula>();

/**
 * Parses a formula, or returns why it does not follow the grammar (docs/formulas.md#grammar). Never
 * throws.
 */
export function parseFormula(text: string): ParsedFormula {
  const known = cache.get(text);
  // A used entry moves to the end, so the first entry is the least recently used one.
  if (known !== undefined) cache.delete(text);
  const parsed = known ?? readFormula(text);
  if (parsed.kind === "formula") cache.set(text, parsed);
  const [oldest] = cache.keys();
  if (cache.size > CACHE_SIZE && oldest !== undefined) cache.delete(oldest);
  return parsed;
}

function readFormula(text: string): ParsedFormula {
  if (text.length > MAX_LENGTH) {
    return { kind: "violation", text: `it is longer than ${MAX_LENGTH} characters` };
  }
  try {
    const parser: Parser = {
      tokens: tokenize(text),
      next: 0,
      nodes: 0,
      powers: 0,
      depth: 0,
      readsLine: false,
      names: new Set(),
    };
    const root = readExpression(parser, 0);
    const rest = peek(parser);
    if (rest.kind !== "end") throw unexpected(rest);
    const { nodes, powers, readsLine, names } = parser;
    const steps = nodes + powers * POWER_STEPS;
    return { kind: "formula", formula: { root, readsLine, names, steps } };
  } catch (error) {
    if (error instanceof FormulaSyntaxError) return { kind: "violation", text: error.message };
    throw error;
  }
}

type Parser = {
  readonly tokens: readonly Token[];
  next: number;
  nodes: number;
  powers: number;
  depth: number;
  readsLine: boolean;
  readonly names: Set<string>;
};

type Binding = { readonly operator: Operator; readonly power: number };

const COMPARISON = 3;

const comparison = (operator: ComparisonOperator): Binding => ({ operator, power: COMPARISON });

/** Binding power of each operator; comparisons do not chain. */
const BINDINGS: ReadonlyMap<string, Binding> = new Map([
  ["OR", { operator: "OR", power: 1 }],
  ["AND", { operator: "AND", power: 2 }],
  [">", comparison(">")],
  ["<", comparison("<")],
  [">=", comparison(">=")],
  ["<=", comparison("<=")],
  ["=", comparison("=")],
  ["!=", comparison("!=")],
  ["IS", comparison("=")],
  ["ISNOT", comparison("!=")],
  ["CONTAINS", comparison("CONTAINS")],
  ["STARTSWITH", comparison("STARTSWITH")],
  ["ENDSWITH", comparison("ENDSWITH")],
  ["IN_ARRAY", comparison("IN_ARRAY")],
  ["NOT_IN_ARRAY", comparison("NOT_IN_ARRAY")],
  ["DATE_IS", comparison("DATE_IS")],
  ["DATE_IS_NOT", comparison("DATE_IS_NOT")],
  ["IS_AFTER", comparison("IS_AFTER")],
  ["IS_BEFORE", comparison("IS_BEFORE")],
  ["+", { operator: "+", power: 4 }],
  ["-", { operator: "-", power: 4 }],
  ["*", { operator: "*", power: 5 }],
  ["/", { operator: "/", power: 5 }],
  ["%", { operator: "%", power: 5 }],
] satisfies [string, Binding][]);

/** Reads operands and all operators between them that bind more strongly than `power`. */
function readExpression(parser: Parser, power: number): Node {
  let left = readUnary(parser);
  let strongest = Infinity;
  for (;;) {
    const binding = bindingOf(peek(parser));
    if (binding === undefined || binding.power <= power) return left;
    // Only AND and OR may follow a comparison: a < b < c is rejected.
    if (binding.power >= strongest) throw unexpected(peek(parser));
    parser.next += 1;
    const right = readExpression(parser, binding.power);
    left = counted(parser, { kind: "binary", operator: binding.operator, left, right });
    strongest = binding.power === COMPARISON ? COMPARISON : Infinity;
  }
}

function bindingOf(token: Token): Binding | undefined {
  if (token.kind === "word") return BINDINGS.get(token.word);
  return token.kind === "symbol" ? BINDINGS.get(token.symbol) : undefined;
}

function readUnary(parser: Parser): Node {
  if (!takes(parser, "-")) return readPrimary(parser);
  return counted(parser, { kind: "minus", operand: readPrimary(parser) });
}

function readPrimary(parser: Parser): Node {
  const token = peek(parser);
  parser.next += 1;
  switch (token.kind) {
    case "number":
      return counted(parser, { kind: "number", value: token.value });
    case "text":
      return counted(parser, { kind: "text", value: token.value });
    case "word":
      return readName(parser, token);
    case "symbol":
      if (token.symbol !== "(") throw unexpected(token);
      return nested(parser, () => readExpression(parser, 0));
    case "end":
      throw unexpected(token);
    default:
      return token satisfies never;
  }
}

function readName(parser: Parser, token: Token & { readonly kind: "word" }): Node {
  const { word } = token;
  if (BINDINGS.has(word) || word === "SWITCH_CASE") throw unexpected(token);
  if (word.startsWith("ORDER_ITEM_")) parser.readsLine = true;
  if (word === "POW") parser.powers += 1;
  if (!takes(parser, "(")) {
    if (word === "SWITCH" || BUILT_INS.has(word)) throw wrongCount(token);
    parser.names.add(word);
    return counted(parser, { kind: "name", name: word });
  }
  if (word === "SWITCH") return nested(parser, () => readSwitch(parser));
  const parts = nested(parser, () => readArguments(parser));
  const expected = BUILT_INS.get(word);
  if (expected && (parts.length < expected.min || parts.length > expected.max)) {
    throw wrongCount(token);
  }
  return counted(parser, { kind: "call", name: word, arguments: parts });
}

function readArguments(parser: Parser): readonly Node[] {
  const parts = [readExpression(parser, 0)];
  while (takes(parser, ";")) parts.push(readExpression(parser, 0));
  return parts;
}

function readSwitch(parser: Parser): Node {
  const subject = readExpression(parser, 0);
  const cases: SwitchCase[] = [];
  expect(parser, ";");
  for (let token = peek(parser); isSwitchCase(token); token = peek(parser)) {
    parser.next += 1;
    expect(parser, "(");
    cases.push(nested(parser, () => readSwitchCase(parser)));
    // Between cases the separator is optional, as the leading system accepts both forms.
    if (!takes(parser, ";") && !isSwitchCase(peek(parser))) expect(parser, ";");
  }
  const otherwise = readExpression(parser, 0);
  return counted(parser, { kind: "switch", subject, cases, otherwise });
}

const isSwitchCase = (token: Token): boolean =>
  token.kind === "word" && token.word === "SWITCH_CASE";

function readSwitchCase(parser: Parser): SwitchCase {
  const when = readExpression(parser, 0);
  expect(parser, ";");
  return { when, result: readExpression(parser, 0) };
}

/** Reads the content of a parenthesis, and the closing parenthesis. */
function nested<Inner>(parser: Parser, read: () => Inner): Inner {
  parser.depth += 1;
  if (parser.depth > MAX_DEPTH) {
    throw new FormulaSyntaxError(`it is nested more than ${MAX_DEPTH} deep`);
  }
  const inner = read();
  expect(parser, ")");
  parser.depth -= 1;
  return inner;
}

function counted(parser: Parser, node: Node): Node {
  parser.nodes += 1;
  if (parser.nodes > MAX_NODES) throw new FormulaSyntaxError(`it has more than ${MAX_NODES} parts`);
  return node;
}

function takes(parser: Parser, symbol: string): boolean {
  const token = peek(parser);
  if (token.kind !== "symbol" || token.symbol !== symbol) return false;
  parser.next += 1;
  return true;
}

function expect(parser: Parser, symbol: string): void {
  if (!takes(parser, symbol)) {
    throw new FormulaSyntaxError(`"${symbol}" is missing at position ${peek(parser).at}`);
  }
}

function peek(parser: Parser): Token {
  const token = parser.tokens[parser.next];
  if (token === undefined) throw new Error("a formula was read beyond its end");
  return token;
}

const unexpected = (token: Token): FormulaSyntaxError =>
  new FormulaSyntaxError(
    token.kind === "end" ? "it ends too early" : `unexpected text at position ${token.at}`,
  );

const wrongCount = (token: Token & { readonly kind: "word" }): FormulaSyntaxError =>
  new FormulaSyntaxError(
    `${token.word} at position ${token.at} does not have the arguments that it needs`,
  );
