/** How much is measured; full and smoke runs differ in nothing else. */
export type Plan = {
  /** Alternating rounds of A and B; medians are reported. */
  readonly rounds: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
  readonly codes: number;
  readonly clients: readonly number[];
  /** The rounds at a fixed rate, for latencies. */
  readonly ratePerSecond: number;
  readonly rateSeconds: number;
  readonly idleSeconds: number;
  readonly flushes: number;
  /** Number and length of the rounds of each kind of validation. */
  readonly validationRounds: number;
  readonly validationSeconds: number;
  /** Sizes of an installation that a validation must not depend on. */
  readonly few: number;
  readonly tiers: number;
  /** Codes of each form of installation. */
  readonly formCodes: number;
  /** Duration per request of the engine alone. */
  readonly engineSeconds: number;
};

export const FULL: Plan = {
  rounds: 3,
  seconds: 4,
  warmUpSeconds: 4,
  codes: 100_000,
  clients: [32, 128],
  ratePerSecond: 200,
  rateSeconds: 8,
  idleSeconds: 20,
  flushes: 300,
  validationRounds: 3,
  validationSeconds: 1.5,
  few: 1_000,
  tiers: 1_000,
  formCodes: 20_000,
  engineSeconds: 1,
};

/** Shows that the benchmark works; its figures mean nothing. */
export const SMOKE: Plan = {
  rounds: 1,
  seconds: 0.5,
  warmUpSeconds: 0.5,
  codes: 200,
  clients: [8],
  ratePerSecond: 100,
  rateSeconds: 0.5,
  idleSeconds: 0.5,
  flushes: 20,
  validationRounds: 1,
  validationSeconds: 0.3,
  few: 20,
  tiers: 10,
  formCodes: 20,
  engineSeconds: 0.05,
};

export type Options = { readonly plan: Plan; readonly smoke: boolean; readonly profile: boolean };

export function readOptions(args: readonly string[]): Options {
  const unknown = args.filter((arg) => arg !== "--smoke" && arg !== "--profile");
  if (unknown.length > 0) {
    throw new Error(`unknown option ${unknown.join(" ")}; there are --smoke and --profile`);
  }
  const smoke = args.includes("--smoke");
  return { plan: smoke ? SMOKE : FULL, smoke, profile: args.includes("--profile") };
}
