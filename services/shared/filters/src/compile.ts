import { type Condition, type FilterContext, type Operand, Violation } from "./condition.ts";
import { compileDate } from "./dates.ts";
import { type Bind, type FilterField, findField } from "./fields.ts";
import { isOperator, type Operator, OPERATORS } from "./operators.ts";
import { compileScalar } from "./scalars.ts";

export type CompiledFilters =
  | { readonly kind: "sql"; readonly text: string }
  /** What is wrong, in the words of the API. */
  | { readonly kind: "violation"; readonly text: string };

/** A filter is small: more conditions than these are an attempt at something else. */
const MAX_CONDITIONS = 20;
const MAX_VALUES = 100;

/**
 * Turns a tree of filters (spec/campaigns-loyalty-platform.md §3) into a condition of SQL. Fields come
 * from a whitelist and every value is bound, so nothing a client sends becomes part of the text.
 */
export function compileFilters(filters: unknown, context: FilterContext): CompiledFilters {
  const bind: Bind = (value) => {
    context.values.push(value);
    return `$${context.values.length}`;
  };
  try {
    return { kind: "sql", text: compileTree(filters, context, bind) };
  } catch (error) {
    if (error instanceof Violation) return { kind: "violation", text: error.message };
    throw error;
  }
}

function compileTree(filters: unknown, context: FilterContext, bind: Bind): string {
  if (!isObject(filters)) throw new Violation(`Property .filters must be object. ${FORMS}`);
  let junction = "and";
  let conditions = 0;
  const parts: string[] = [];
  for (const [name, tree] of Object.entries(filters)) {
    if (name === "junction") {
      junction = junctionOf(tree);
      continue;
    }
    const field = findField(context.fields, name, bind);
    if (field === undefined) throw new Violation(`Unknown filter field ${name}`);
    const operators = conditionsOf(name, tree);
    conditions += operators.length;
    if (conditions > MAX_CONDITIONS) {
      throw new Violation(`Filters cannot have more than ${MAX_CONDITIONS} conditions`);
    }
    const compiled = operators.map(([operator, operand]) =>
      compileCondition(
        { name, field, operator, operands: operandsOf(name, operand) },
        context,
        bind,
      ),
    );
    parts.push(`(${compiled.join(" and ")})`);
  }
  return parts.length === 0 ? "true" : `(${parts.join(` ${junction} `)})`;
}

function junctionOf(value: unknown): "and" | "or" {
  const junction = typeof value === "string" ? value.toLowerCase() : value;
  if (junction === "and" || junction === "or") return junction;
  throw new Violation("Property .filters.junction must be 'and' or 'or'");
}

function conditionsOf(name: string, tree: unknown): [Operator, unknown][] {
  const conditions = isObject(tree) ? tree["conditions"] : undefined;
  if (!isObject(conditions) || Object.keys(conditions).length === 0) {
    throw new Violation(`Property .filters.${name} must have conditions. ${FORMS}`);
  }
  return Object.entries(conditions).map(([operator, operand]) => {
    if (!isOperator(operator)) throw new Violation(`Unknown operator ${operator}. ${FORMS}`);
    return [operator, operand];
  });
}

const FORMS =
  `Accepted forms: "<field>": {"conditions": {"<operator>": <value>}} and ` +
  `"<field>": {"conditions": {"<operator>": [<value>, …]}}, in a query ` +
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

function compileCondition(condition: Condition, context: FilterContext, bind: Bind): string {
  const { field, operator } = condition;
  const state = field.states?.[operator];
  if (state !== undefined) return `(${state(() => `${bind(new Date(context.now))}::timestamptz`)})`;
  if (operator === "$has_value") return `(${presentSql(field)})`;
  if (operator === "$is_unknown") return `(not (${presentSql(field)}))`;
  const sql =
    field.type === "date"
      ? compileDate(condition, context, bind)
      : compileScalar(condition, context, bind);
  if (sql === undefined) {
    throw new Violation(`Operator ${operator} cannot be used on filter ${condition.name}`);
  }
  return `(${sql})`;
}

/** A JSON null is as unknown as a key that is not there. */
const presentSql = ({ type, sql }: FilterField): string =>
  type === "json" ? `coalesce(jsonb_typeof(${sql}), 'null') <> 'null'` : `${sql} is not null`;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
