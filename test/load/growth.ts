import path from "node:path";

import { type Api, openApi } from "./api.ts";
import { copyOf, copyVoucher, createVoucher } from "./fixtures.ts";
import { type LoadClient, startLoadClient } from "./load.ts";
import { run, settle, type BenchContext } from "./running.ts";
import { type Standalone, startStandalone } from "./standalone.ts";
import { median } from "./statistics.ts";

/** How fast a voucher is validated in installations of different sizes. */
export type Growth = readonly {
  readonly vouchers: number;
  readonly tiers: number;
  /** How many of the vouchers are validated. */
  readonly drawn: number;
  readonly perSecond: number;
  /** Time of a validation relative to the first installation: the median of the rounds' ratios. */
  readonly slower: number;
}[];

type Size = { readonly vouchers: number; readonly tiers: number };

type Place = {
  readonly size: Size;
  readonly standalone: Standalone;
  readonly api: Api;
};

type Case = { readonly place: Place; readonly codes: readonly string[] };

const NAME = "LIVE";
const ORDER = JSON.stringify({ order: { amount: 10_000 } });
/** Number of tiers that are created concurrently through the API. */
const MAKERS = 8;

/** Each size has a database and a process of its own on one server; they are measured in alternating rounds. */
export async function measureGrowth(context: BenchContext): Promise<Growth> {
  const { plan, log } = context;
  const { few, codes: many, tiers } = plan;
  log(`measuring validations among ${few} and ${many} vouchers and ${tiers} promotion tiers`);
  await using places = new AsyncDisposableStack();
  const open = async (size: Size): Promise<Place> => {
    const place = await openPlace(context, size);
    places.use(place.standalone);
    return place;
  };
  const small = await open({ vouchers: few, tiers: 0 });
  const large = await open({ vouchers: many, tiers: 0 });
  const tiered = await open({ vouchers: few, tiers });
  const cases: readonly Case[] = [
    { place: small, codes: spreadCodes(few, few) },
    { place: large, codes: spreadCodes(many, few) },
    { place: tiered, codes: spreadCodes(few, few) },
    { place: large, codes: spreadCodes(many, many) },
  ];
  using client = startLoadClient();
  return await compareSizes(context, cases, client);
}

async function compareSizes(
  context: BenchContext,
  cases: readonly Case[],
  client: LoadClient,
): Promise<Growth> {
  const { plan } = context;
  const rounds: number[][] = [];
  // The first round warms up and is not counted.
  for (let round = 0; round <= plan.validationRounds; round += 1) {
    const rates: number[] = [];
    for (const { place, codes } of cases) {
      await settle({ ...context, standalone: place.standalone });
      const { successesPerSecond } = await run(
        { client },
        {
          ...place.api.request({ before: "/v1/vouchers/", after: "/validate" }, ORDER),
          codes,
          connections: Math.min(...plan.clients),
          seconds: plan.validationSeconds,
          ratePerSecond: null,
        },
      );
      rates.push(successesPerSecond);
    }
    if (round > 0) rounds.push(rates);
  }
  return cases.map(({ place, codes }, index) => ({
    ...place.size,
    drawn: codes.length,
    perSecond: median(rounds.map((rates) => rates[index] ?? Number.NaN)),
    slower: median(rounds.map((rates) => (rates[0] ?? Number.NaN) / (rates[index] ?? Number.NaN))),
  }));
}

async function openPlace({ postgres, folder }: BenchContext, size: Size): Promise<Place> {
  const name = `growth_${size.vouchers}_${size.tiers}`;
  const databaseUrl = await postgres.create(name);
  const standalone = await startStandalone({ databaseUrl, dataDir: path.join(folder, name) });
  try {
    const api = await openApi(standalone);
    await createVoucher(api, NAME, []);
    await copyVoucher(databaseUrl, { name: NAME, prefix: "0", copies: size.vouchers });
    if (size.tiers > 0) await createTiers(api, size.tiers);
    return { size, standalone, api };
  } catch (error) {
    await standalone[Symbol.asyncDispose]();
    throw error;
  }
}

async function createTiers(api: Api, count: number): Promise<void> {
  const campaign = await api.create("/v1/campaigns", { name: "tiers", campaign_type: "PROMOTION" });
  const makeSome = async (first: number): Promise<void> => {
    for (let number = first; number < count; number += MAKERS) {
      await api.create(`/v1/promotions/${campaign}/tiers`, {
        name: `tier ${number}`,
        action: { discount: { type: "PERCENT", percent_off: 5 } },
      });
    }
  };
  await Promise.all(Array.from({ length: MAKERS }, (_, first) => makeSome(first)));
}

/** Codes spread evenly over all vouchers. */
const spreadCodes = (vouchers: number, drawn: number): readonly string[] =>
  Array.from({ length: drawn }, (_, index) =>
    copyOf(NAME, 1 + Math.floor((index * vouchers) / drawn)),
  );
