import type { Metadata, Count } from "@scrip/rules";

import type { Rejection } from "../rejections/rejection.ts";

/**
 * A condition on a count that the decision relied on and that concurrent requests can break. The
 * commit checks it again under its locks: the count plus `add` must meet the conditions.
 * docs/redemption-and-rollback.md#concurrency
 */
export type CountGuard = {
  readonly count: Count;
  readonly add: bigint;
  /** Operators and operands of a validation rule. */
  readonly conditions: Metadata;
  /** The error if it fails; null: the request is decided again. */
  readonly rejection: Rejection | null;
};
