import { type Condition, type FilterContext, Violation } from "./condition.ts";
import { compileDate } from "./dates.ts";
import { type Bind, type FilterField, findField } from "./fields.ts";
import { comparesAges, compileDay, compileJsonDate } from "./json-dates.ts";
import type { Operator } from "./operators.ts";
import { compileScalar } from "./scalars.ts";
import { readTree } from "./tree.ts";

export type CompiledFilters =
  | { readonly kind: "sql"; readonly text: string }
  /** What is wrong, in the words of the API. */
  | { readonly kind: "violation"; readonly text: string };

/**
 * Compiles a tree of filters into an SQL condition (docs/filters-and-listing.md#filters). Fields
 * come from a whitelist and every value is bound, so no text of a client becomes part of the
 * statement.
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
  const { junction, fields } = readTree(filters);
  const parts = fields.flatMap(({ name, conditions }) => {
    const isEmpty = conditions.length === 0;
    const field = findField(context.fields, name, isEmpty ? bindNothing : bind);
    if (field === undefined) throw new Violation(`Unknown filter field ${name}`);
    if (isEmpty) return [];
    const compiled = conditions.map((condition) =>
      compileCondition({ name, field, ...condition }, context, bind),
    );
    return `(${compiled.join(" and ")})`;
  });
  return parts.length === 0 ? "true" : `(${parts.join(` ${junction} `)})`;
}

/** PostgreSQL rejects values that a statement does not use. */
const bindNothing: Bind = () => "null";

/** The positive operator that a negative one negates. A negative operator also matches an absent value. */
const EXCLUDED: Readonly<Partial<Record<Operator, Operator>>> = {
  $is_not: "$is",
  $not_in: "$in",
  $not_contain: "$contains",
  $is_unknown: "$has_value",
};

function compileCondition(condition: Condition, context: FilterContext, bind: Bind): string {
  const { within, ...field } = condition.field;
  if (within === undefined) return compileOwn(condition, context, bind);
  const excluded = EXCLUDED[condition.operator];
  const operator = excluded ?? condition.operator;
  const found = within(compileOwn({ ...condition, field, operator }, context, bind));
  return excluded === undefined ? `(${found})` : `((${found}) is not true)`;
}

function compileOwn(condition: Condition, context: FilterContext, bind: Bind): string {
  const { field, operator } = condition;
  const state = field.states?.[operator];
  if (state !== undefined) return `(${state(() => `${bind(new Date(context.now))}::timestamptz`)})`;
  if (operator === "$has_value") return `(${presentSql(field)})`;
  if (operator === "$is_unknown") return `(not (${presentSql(field)}))`;
  const sql = compileValue(condition, context, bind);
  if (sql === undefined) {
    throw new Violation(`Operator ${operator} cannot be used on filter ${condition.name}`);
  }
  return `(${sql})`;
}

function compileValue(
  condition: Condition,
  context: FilterContext,
  bind: Bind,
): string | undefined {
  const { field } = condition;
  const { normalize } = field;
  if (normalize !== undefined) {
    const operands = condition.operands.map((operand) =>
      typeof operand === "string" ? normalize(operand) : operand,
    );
    const { normalize: _, ...plain } = field;
    return compileValue({ ...condition, field: plain, operands }, context, bind);
  }
  if (field.type === "date") return compileDate(condition, context, bind);
  if (field.type === "day") return compileDay(condition, context, bind);
  const scalar = compileScalar(condition, bind);
  if (field.type !== "json") return scalar;
  if (scalar === undefined) return compileJsonDate(condition, context, bind);
  if (!comparesAges(condition)) return scalar;
  return `${scalar} or ${compileJsonDate(condition, context, bind)}`;
}

/** A JSON null counts as an absent key. */
const presentSql = ({ type, sql }: FilterField): string =>
  type === "json" ? `coalesce(jsonb_typeof(${sql}), 'null') <> 'null'` : `${sql} is not null`;
