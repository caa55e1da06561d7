import type { FilterField, FilterFields } from "./fields.ts";
import type { Operator } from "./operators.ts";

export type FilterContext = {
  readonly fields: FilterFields;
  /** The project's present, epoch milliseconds; and where its days begin. */
  readonly now: number;
  readonly timeZone: string;
  /** Of the statement that the condition becomes a part of; values are appended. */
  readonly values: unknown[];
};

export type Operand = string | number | boolean | null;

export type Condition = {
  readonly name: string;
  readonly field: FilterField;
  readonly operator: Operator;
  readonly operands: readonly Operand[];
};

/** Thrown inside this package only, where a condition cannot be compiled. */
export class Violation extends Error {
  override readonly name = "Violation";
}
