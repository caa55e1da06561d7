/** The project that a case runs in. */
export type ProjectName =
  /** Client-side callers may redeem and publish. */
  | "main"
  /** Client-side callers may neither redeem nor publish. */
  | "closed"
  /** Redeems in mode PARTIAL. */
  | "partial"
  /** Has metadata schemas that the metadata `{ wrong: "x" }` violates. */
  | "schemas"
  /** Contains nothing but the candidates of qualifications. */
  | "qualification"
  /** A sandbox, whose clock cases put forward. */
  | "sandbox";
