import type { Figures, Outcomes } from "./drive.ts";

/** What is measured: checks of codes, and redemptions of many codes or of one. */
export const ACTIONS = ["validate", "redeem", "redeem one code"] as const;
export type Action = (typeof ACTIONS)[number];

export type Round = {
  readonly action: Action;
  readonly clients: number;
  readonly seconds: number;
};

/** A system with a database of its own that has the promotions and the cart of `cart.ts`. */
export type Contender = AsyncDisposable & {
  readonly name: string;
  /** The process whose processor time counts. */
  readonly pid: number;
  measure(round: Round): Promise<Figures>;
  /** Redeems `RACE_CODE` so many times at the same time. */
  race(attempts: number): Promise<Race>;
};

export type Race = Outcomes & {
  /** Requests that were rejected because of overload and repeated. */
  readonly repeated: number;
  /** Redemptions according to the data of the system afterwards. */
  readonly stored: number;
};
