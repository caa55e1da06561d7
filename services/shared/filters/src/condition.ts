import type { TimeContext } from "@scrip/rules";

import type { FilterField, FilterFields } from "./fields.ts";
import type { Operator } from "./operators.ts";

export type FilterContext = TimeContext & {
  readonly fields: FilterFields;
  /** Values of the statement that includes the condition; compiled values are appended. */
  readonly values: unknown[];
};

export type Operand = string | number | boolean | null;

export type Condition = {
  readonly name: string;
  readonly field: FilterField;
  readonly operator: Operator;
  readonly operands: readonly Operand[];
};

/** A condition that cannot be compiled. Thrown and caught inside this package only. */
export class Violation extends Error {
  override readonly name = "Violation";
}

export const MS_PER_DAY = 86_400_000;
