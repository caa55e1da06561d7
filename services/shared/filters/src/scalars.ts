import { type Condition, type Operand, Violation } from "./condition.ts";
import type { Bind } from "./fields.ts";

/**
 * Conditions on texts, numbers, booleans, arrays and JSON values. With several values, a positive
 * operator matches any of them, a negative one none. Returns undefined for operators that the field
 * does not have.
 */
export function compileScalar(condition: Condition, bind: Bind): string | undefined {
  switch (condition.operator) {
    case "$in":
    case "$is":
      return equality(condition, bind);
    case "$not_in":
    case "$is_not":
      // Also matches an absent value, which differs from every listed one.
      return `(${equality(condition, bind)}) is not true`;
    case "$contains":
      return containment(condition, bind);
    case "$not_contain": {
      const contained = containment(condition, bind);
      return contained && `(${contained}) is not true`;
    }
    case "$starts_with":
      return beginning(condition, bind);
    case "$ends_with":
      return matching(condition, (text) => `%${text}`, bind);
    case "$more_than":
      return comparison(condition, ">", bind);
    case "$less_than":
      return comparison(condition, "<", bind);
    case "$more_than_equal":
      return comparison(condition, ">=", bind);
    case "$less_than_equal":
      return comparison(condition, "<=", bind);
    case "$count":
      return counting(condition, "=", bind);
    case "$count_less":
      return counting(condition, "<", bind);
    case "$count_more":
      return counting(condition, ">", bind);
    default:
      return undefined;
  }
}

function equality({ name, field, operands }: Condition, bind: Bind): string {
  switch (field.type) {
    case "number":
      return `${field.sql} = any(${bind(operands.map((one) => numberOf(name, one)))}::numeric[])`;
    case "boolean":
      return `${field.sql} = any(${bind(operands.map((one) => booleanOf(name, one)))}::boolean[])`;
    case "array": {
      const values = `${bind(operands.map(textOf))}::text[]`;
      return field.hasAny?.(values) ?? `${field.sql}::text[] && ${values}`;
    }
    case "json":
      return jsonEquality(field.sql, operands, bind);
    default: {
      const { key } = field;
      const texts = operands.map(textOf);
      const keys = `${bind(key === undefined ? texts : texts.flatMap(key.of))}::text[]`;
      return key?.isAny?.(keys) ?? `${key?.sql ?? field.sql} = any(${keys})`;
    }
  }
}

function jsonEquality(sql: string, operands: Condition["operands"], bind: Bind): string {
  const equal = `${jsonText(sql)} = any(${bind(operands.map(textOf))}::text[])`;
  const booleans = operands.flatMap((one) => booleanText(one) ?? []);
  return booleans.length === 0 ? equal : `${equal} or ${sql} = any(${bind(booleans)}::jsonb[])`;
}

function containment(condition: Condition, bind: Bind): string | undefined {
  const { field, operands } = condition;
  if (field.type === "array") return equality(condition, bind);
  const matched = matching(condition, (text) => `%${text}%`, bind);
  if (field.type !== "json") return matched;
  const member = `jsonb_typeof(${field.sql}) = 'array' and exists (
    select 1 from jsonb_array_elements_text(
             case when jsonb_typeof(${field.sql}) = 'array' then ${field.sql} else '[]' end
           ) as member (text)
     where member.text = any(${bind(operands.map(textOf))}::text[]))`;
  return `(${member}) or (jsonb_typeof(${field.sql}) <> 'array' and ${matched})`;
}

function matching(
  { field, operands }: Condition,
  pattern: (text: string) => string,
  bind: Bind,
): string | undefined {
  if (field.type !== "text" && field.type !== "json") return undefined;
  const patterns = operands.map((one) => pattern(escapeLike(textOf(one))));
  const text = field.type === "json" ? jsonText(field.sql) : field.sql;
  return `${text} collate ${CASELESS} ilike any(${bind(patterns)}::text[])`;
}

function beginning(condition: Condition, bind: Bind): string | undefined {
  const { field, operands } = condition;
  const ranges = operands.map((one) => field.beginnings?.of(textOf(one)));
  const matched = (): string | undefined => matching(condition, (text) => `${text}%`, bind);
  if (field.beginnings === undefined || ranges.includes(undefined)) return matched();
  const { sql } = field.beginnings;
  const within = ranges
    .flatMap((one) => one ?? [])
    .map(({ from, to }) => `${sql} >= ${bind(from)}::text and ${sql} < ${bind(to)}::text`);
  return within.length === 0 ? "false" : `(${within.join(" or ")}) and ${matched()}`;
}

/** The collation of every schema that folds the letters of all scripts, whatever the locale of the database (`CASELESS` of @scrip/postgres). */
const CASELESS = "caseless";

const escapeLike = (text: string): string => text.replaceAll(/[\\%_]/g, String.raw`\$&`);

function comparison(
  { name, field, operands }: Condition,
  comparator: string,
  bind: Bind,
): string | undefined {
  const numbers = (): string => `${bind(operands.map((one) => numberOf(name, one)))}::numeric[]`;
  if (field.type === "number") return `${field.sql} ${comparator} any(${numbers()})`;
  if (field.type !== "json") return undefined;
  return `${jsonNumber(field.sql)} ${comparator} any(${numbers()})`;
}

function counting(
  { name, field, operands }: Condition,
  comparator: string,
  bind: Bind,
): string | undefined {
  const counts = (): string => `${bind(operands.map((one) => numberOf(name, one)))}::numeric[]`;
  switch (field.type) {
    case "number":
      return `${field.sql} ${comparator} any(${counts()})`;
    case "array":
      return `coalesce(cardinality(${field.sql}), 0) ${comparator} any(${counts()})`;
    case "json":
      return `case when jsonb_typeof(${field.sql}) = 'array'
                   then jsonb_array_length(${field.sql}) ${comparator} any(${counts()})
                   else false end`;
    default:
      return undefined;
  }
}

export const jsonText = (sql: string): string => `(${sql} #>> '{}')`;

const jsonNumber = (sql: string): string =>
  `(case when jsonb_typeof(${sql}) = 'number' then (${sql} #>> '{}')::numeric end)`;

export const textOf = (operand: Operand): string => String(operand ?? "");

/** Digits in quotes are a number too: a query string has no other form. */
export function numberOf(name: string, operand: Operand): string {
  const text = String(operand);
  if (!/^-?\d{1,30}(?:\.\d{1,30})?$/.test(text)) {
    throw new Violation(`Values of filter ${name} must be numbers`);
  }
  return text;
}

export function booleanOf(name: string, operand: Operand): boolean {
  const text = booleanText(operand);
  if (text === undefined) throw new Violation(`Values of filter ${name} must be true or false`);
  return text === "true";
}

/** A boolean in JSON; undefined for other values. */
export function booleanText(operand: Operand): "true" | "false" | undefined {
  const text = String(operand).toLowerCase();
  return text === "true" || text === "false" ? text : undefined;
}
