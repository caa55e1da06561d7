import { type Decimal, negateDecimal } from "@scrip/money";

import type { TimeContext } from "../time/time-context.ts";
import { startOfToday } from "./dates.ts";
import { BUILT_INS, notANumber } from "./functions.ts";
import { calculate, compare, isSame } from "./operators.ts";
import type { Formula } from "./parse.ts";
import type { LogicOperator, Node, SwitchCase } from "./syntax.ts";
import {
  type FormulaValue,
  type KnownValue,
  type Metadata,
  booleanValue,
  dateValue,
  failure,
  metadataValue,
  numberValue,
  textValue,
} from "./value.ts";

/** The values of the names in a formula. Names are upper case. */
export type FormulaScope = {
  readonly time: TimeContext;
  /** The value of an operand such as `ORDER_AMOUNT`; null when absent. */
  readonly operand: (name: string) => KnownValue | null;
  /** The object in which an operand such as `ORDER_METADATA` looks up its key; null when absent. */
  readonly metadata: (name: string) => Metadata | null;
  /** Called for every operand that is read; keys of metadata as `ORDER_METADATA("k")`. */
  readonly onRead?: (operand: string, value: KnownValue | null) => void;
};

export type FormulaResult =
  | { readonly kind: "number"; readonly value: Decimal }
  /** The static value applies instead. */
  | { readonly kind: "fallback"; readonly reason: string };

/**
 * Evaluates a formula to a number, or to the reason why it has none. Each part is evaluated at most
 * once and there are no loops, so the limits of the parser also bound the time.
 */
export function evaluateFormula(formula: Formula, scope: FormulaScope): FormulaResult {
  const value = evaluate(formula.root, scope);
  if (value.kind === "number") return { kind: "number", value: value.value };
  const { reason } = value.kind === "failure" ? value : failure(`a ${value.kind} is not a number`);
  return { kind: "fallback", reason };
}

function evaluate(node: Node, scope: FormulaScope): FormulaValue {
  switch (node.kind) {
    case "number":
      return numberValue(node.value);
    case "text":
      return textValue(node.value);
    case "name":
      return readOperand(node.name, scope);
    case "call":
      return call(node, scope);
    case "switch":
      return choose(node, scope);
    case "minus": {
      const operand = evaluate(node.operand, scope);
      if (operand.kind !== "number") return notANumber(operand);
      return numberValue(negateDecimal(operand.value));
    }
    case "binary":
      return combine(node, scope);
    default:
      return node satisfies never;
  }
}

function readOperand(name: string, { time, operand, onRead }: FormulaScope): FormulaValue {
  switch (name) {
    case "TODAY":
      return dateValue(startOfToday(time));
    case "NOW":
      return dateValue(time.now);
    case "TRUE":
    case "FALSE":
      return booleanValue(name === "TRUE");
    default: {
      const value = operand(name);
      onRead?.(name, value);
      return value ?? failure(`${name} has no value`);
    }
  }
}

function call(node: Node & { readonly kind: "call" }, scope: FormulaScope): FormulaValue {
  const { name, arguments: parts } = node;
  const builtIn = BUILT_INS.get(name);
  if (builtIn === undefined) return readMetadata(node, scope);
  if (builtIn.apply !== null) {
    return builtIn.apply(
      parts.map((part) => evaluate(part, scope)),
      scope.time,
    );
  }
  return name === "IF" ? branch(parts, scope) : firstKnown(parts, scope);
}

function readMetadata(node: Node & { readonly kind: "call" }, scope: FormulaScope): FormulaValue {
  const { name, arguments: parts } = node;
  const metadata = scope.metadata(name);
  if (metadata === null) {
    scope.onRead?.(name, null);
    return failure(`${name} has no value`);
  }
  const [part, ...others] = parts;
  const key = part && evaluate(part, scope);
  if (key?.kind === "failure") return key;
  if (key?.kind !== "text" || others.length > 0) return failure(`${name} needs one key`);
  const value = metadataValue(metadata, key.value);
  scope.onRead?.(`${name}("${key.value}")`, value);
  return value ?? failure(`${name} has no value for its key`);
}

function branch(parts: readonly Node[], scope: FormulaScope): FormulaValue {
  const [test, then, otherwise] = parts;
  const condition = truthOf(test, scope);
  if (condition.kind !== "boolean") return condition;
  const taken = condition.value ? then : otherwise;
  return taken === undefined ? failure("a branch is missing") : evaluate(taken, scope);
}

function firstKnown(parts: readonly Node[], scope: FormulaScope): FormulaValue {
  let value: FormulaValue = failure("no argument has a value");
  for (const part of parts) {
    value = evaluate(part, scope);
    if (value.kind !== "failure") return value;
  }
  return value;
}

/** The first case that equals the subject wins; later cases are not evaluated. */
function choose(node: Node & { readonly kind: "switch" }, scope: FormulaScope): FormulaValue {
  const subject = evaluate(node.subject, scope);
  if (subject.kind === "failure") return subject;
  for (const one of node.cases) {
    const match = matches(subject, one, scope);
    if (match.kind !== "boolean") return match;
    if (match.value) return evaluate(one.result, scope);
  }
  return evaluate(node.otherwise, scope);
}

function matches(subject: KnownValue, { when }: SwitchCase, scope: FormulaScope): FormulaValue {
  const value = evaluate(when, scope);
  if (value.kind === "failure") return value;
  const same = isSame(subject, value);
  return same === undefined ? failure("a list cannot be compared") : booleanValue(same);
}

function combine(node: Node & { readonly kind: "binary" }, scope: FormulaScope): FormulaValue {
  const { operator, left, right } = node;
  switch (operator) {
    case "OR":
    case "AND":
      return joined(operator, left, right, scope);
    case "+":
    case "-":
    case "*":
    case "/":
    case "%":
      return calculate(operator, evaluate(left, scope), evaluate(right, scope));
    default:
      return compare(operator, evaluate(left, scope), evaluate(right, scope), scope.time);
  }
}

/** The right side is evaluated only when the left one does not decide. */
function joined(
  operator: LogicOperator,
  left: Node,
  right: Node,
  scope: FormulaScope,
): FormulaValue {
  const first = truthOf(left, scope);
  if (first.kind !== "boolean" || first.value === (operator === "OR")) return first;
  return truthOf(right, scope);
}

function truthOf(node: Node | undefined, scope: FormulaScope): FormulaValue {
  const value = node === undefined ? failure("a condition is missing") : evaluate(node, scope);
  if (value.kind === "boolean" || value.kind === "failure") return value;
  return failure(`a ${value.kind} is not a condition`);
}
