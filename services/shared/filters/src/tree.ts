import { type Operand, Violation } from "./condition.ts";
import { isOperator, type Operator, OPERATORS } from "./operators.ts";

/** A parsed tree of filters: the conditions per field, and how the fields are joined. */
export type FilterTree = {
  readonly junction: "and" | "or";
  readonly fields: readonly FieldConditions[];
};

/** All conditions of one field must hold. */
type FieldConditions = {
  readonly name: string;
  readonly conditions: readonly {
    readonly operator: Operator;
    readonly operands: readonly Operand[];
  }[];
};

/** Filters are small; this bound rejects abusive ones. */
const MAX_CONDITIONS = 20;
const MAX_VALUES = 100;

/** Throws a Violation that names the problem. Fields are checked elsewhere. */
export function readTree(filters: unknown): FilterTree {
  if (!isObject(filters)) throw new Violation(`Property .filters must be object. ${FORMS}`);
  let conditions = 0;
  const fields: FieldConditions[] = [];
  for (const [name, tree] of Object.entries(filters)) {
    if (name === "junction") continue;
    // Clients that serialize every field of a model send null for those without a filter.
    const read = tree === null ? [] : conditionsOf(name, tree);
    conditions += read.length;
    if (conditions > MAX_CONDITIONS) {
      throw new Violation(`Filters cannot have more than ${MAX_CONDITIONS} conditions`);
    }
    fields.push({ name, conditions: read });
  }
  return { junction: junctionOf(filters["junction"]), fields };
}

function junctionOf(value: unknown): "and" | "or" {
  if (value === undefined || value === null) return "and";
  const junction = typeof value === "string" ? value.toLowerCase() : value;
  if (junction === "and" || junction === "or") return junction;
  throw new Violation("Property .filters.junction must be 'and' or 'or'");
}

function conditionsOf(name: string, tree: unknown): FieldConditions["conditions"] {
  const conditions = isObject(tree) ? (tree["conditions"] ?? operatorsOf(tree)) : undefined;
  if (!isObject(conditions) || Object.keys(conditions).length === 0) {
    throw new Violation(`Property .filters.${name} must have conditions. ${FORMS}`);
  }
  return Object.entries(conditions).map(([operator, operand]) => {
    if (!isOperator(operator)) throw new Violation(`Unknown operator ${operator}. ${FORMS}`);
    return { operator, operands: operandsOf(name, operand) };
  });
}

/** Clients of the leading system also send operators directly below the field. */
const operatorsOf = (tree: Record<string, unknown>): Record<string, unknown> | undefined =>
  Object.keys(tree).every((key) => key.startsWith("$")) ? tree : undefined;

const FORMS =
  `Accepted forms: "<field>": {"conditions": {"<operator>": <value>}}, ` +
  `"<field>": {"conditions": {"<operator>": [<value>, …]}} and "<field>": {"<operator>": <value>}, in a query ` +
  `filters[<field>][conditions][<operator>]=<value> and ` +
  `filters[<field>][conditions][<operator>][0]=<value>. Operators: ${OPERATORS.join(", ")}`;

function operandsOf(name: string, operand: unknown): readonly Operand[] {
  const operands: readonly unknown[] = Array.isArray(operand) ? operand : [operand];
  if (operands.length > MAX_VALUES) {
    throw new Violation(`Filter ${name} cannot have more than ${MAX_VALUES} values`);
  }
  return operands.map((one) => {
    if (one === null || ["string", "number", "boolean"].includes(typeof one)) return one as Operand;
    throw new Violation(`Values of filter ${name} must be strings, numbers or booleans`);
  });
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
