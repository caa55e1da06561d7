import { createHash } from "node:crypto";
import path from "node:path";

import { stringify } from "csv-stringify/sync";

import type { Api } from "../api.ts";
import { isOutage } from "../async-actions.ts";
import { encode } from "../commands/arguments.ts";
import { actionOf, importPath } from "../commands/transfers.ts";
import { HttpError, type JsonObject } from "../http.ts";
import type { Progress } from "../progress.ts";
import type { Lot } from "./expirations.ts";
import type { MovedItem } from "./moved-item.ts";
import { LineWriter } from "./partitions.ts";
import type { Findings } from "./reconciliation.ts";

export type Importer = {
  readonly api: Api;
  readonly problems: Findings;
  /** Waits for an async action and returns it. */
  readonly waitFor: (id: string) => Promise<JsonObject>;
};

/** Limits of a request are 10 MiB and a million values. */
const MAX_BATCH_CHARS = 4 * 1024 * 1024;
const MAX_BATCH_ITEMS = 10_000;

/** Creates and updates customers in batches, each of which is an async action. */
export class CustomerImport {
  readonly #importer: Importer;
  #batch: JsonObject[] = [];
  #chars = 0;

  constructor(importer: Importer) {
    this.#importer = importer;
  }

  async add({ content }: MovedItem): Promise<void> {
    this.#batch.push(content);
    this.#chars += JSON.stringify(content).length;
    if (this.#chars > MAX_BATCH_CHARS || this.#batch.length >= MAX_BATCH_ITEMS) await this.flush();
  }

  async flush(): Promise<void> {
    if (this.#batch.length === 0) return;
    const { api } = this.#importer;
    const started = await patiently(() =>
      api.call("POST", "/v1/customers/bulk/async", this.#batch),
    );
    this.#batch = [];
    this.#chars = 0;
    await finish(this.#importer, actionOf(started));
  }
}

const COMMON = [
  "Code",
  "Active",
  "Category",
  "Redeemed Quantity",
  "Redeemed Amount",
  "Start Date",
  "Expiration Date",
  "Additional Info",
];
const OF_CAMPAIGN = ["Gift Amount", "Loyalty Points"];
const STANDALONE = ["Voucher Type", "Discount Type", "Value", "Redemption Limit"];

/** Writes one CSV file for each campaign, and imports them at the end. */
export class VoucherImport {
  readonly #importer: Importer;
  readonly #folder: string;
  readonly #metadataKeys: readonly string[];
  readonly #writer = new LineWriter();
  readonly #files = new Map<string, string>();

  constructor(importer: Importer, folder: string, metadataKeys: readonly string[]) {
    this.#importer = importer;
    this.#folder = folder;
    this.#metadataKeys = metadataKeys;
  }

  async add({ campaign, content, metadata }: MovedItem): Promise<void> {
    const columns = [...COMMON, ...(campaign === "" ? STANDALONE : OF_CAMPAIGN)];
    let file = this.#files.get(campaign);
    if (file === undefined) {
      file = path.join(this.#folder, `import-${this.#files.size}.csv`);
      this.#files.set(campaign, file);
      await this.#writer.write(file, stringify([[...columns, ...this.#metadataKeys]]));
    }
    const cells = [
      ...columns.map((column) => content[column] ?? ""),
      ...this.#metadataKeys.map((key) => cellOf(metadata[key])),
    ];
    await this.#writer.write(file, stringify([cells]));
  }

  async flush(): Promise<void> {
    await this.#writer.flush();
    for (const [campaign, file] of this.#files) {
      const url = importPath("vouchers", campaign === "" ? undefined : campaign);
      const started = await patiently(() => this.#importer.api.upload(url, file));
      await finish(this.#importer, actionOf(started));
    }
  }
}

/** Lists are comma-separated, as the import reads them. */
function cellOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  return Array.isArray(value) ? value.join(",") : JSON.stringify(value);
}

async function finish({ waitFor, problems }: Importer, id: string): Promise<void> {
  const action = await waitFor(id);
  const { failed, message } = (action["result"] ?? {}) as JsonObject;
  for (const { code, source_id: source, reason } of (failed ?? []) as JsonObject[]) {
    problems.add(`${String(code ?? source)}: ${String(reason)}`);
  }
  if (action["status"] === "FAILED") problems.add(`async action ${id}: ${String(message)}`);
}

/** Sends a request; the first attempt is 1. */
type Attempt<Result> = (attempt: number) => Promise<Result>;

const CONCURRENCY = 8;

/** Requests for which no import exists, some at a time. */
class Requests {
  readonly #running = new Set<Promise<void>>();
  readonly #importer: Importer;
  readonly #progress: Progress;
  readonly #total: number;
  #done = 0;
  #failure: unknown;

  constructor(importer: Importer, progress: Progress, total: number) {
    this.#importer = importer;
    this.#progress = progress;
    this.#total = total;
  }

  /** Waits for a free place. A rejected request is a problem of the voucher. */
  async add(voucher: string, send: Attempt<unknown>): Promise<void> {
    if (this.#running.size >= CONCURRENCY) await Promise.race(this.#running);
    if (this.#failure !== undefined) throw this.#failure;
    const running = this.#send(voucher, send)
      .catch((error: unknown) => {
        this.#failure = error;
      })
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  async flush(): Promise<void> {
    await Promise.all(this.#running);
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #send(voucher: string, send: Attempt<unknown>): Promise<void> {
    try {
      await patiently(send);
    } catch (error) {
      if (!(error instanceof HttpError) || error.status === undefined) throw error;
      this.#importer.problems.add(`voucher ${voucher}: ${error.message}`);
    }
    this.#done += 1;
    this.#progress.update(this.#done, this.#total);
  }
}

/** Publishes vouchers to their holders. */
export class Publisher {
  readonly #requests: Requests;
  readonly #api: Api;

  constructor(importer: Importer, progress: Progress, total: number) {
    this.#requests = new Requests(importer, progress, total);
    this.#api = importer.api;
  }

  add({ key: voucher, values }: MovedItem): Promise<void> {
    const body = { voucher, customer: { source_id: values["holder"] } };
    return this.#requests.add(voucher, async (attempt) => {
      try {
        await this.#api.call("POST", "/v1/publications", body);
      } catch (error) {
        // The response of the attempt before was lost; the holder is compared at the end.
        const isDone = error instanceof HttpError && error.key === "voucher_already_published";
        if (attempt === 1 || !isDone) throw error;
      }
    });
  }

  flush(): Promise<void> {
    return this.#requests.flush();
  }
}

/** Adds points that expire to cards. */
export class PointsImport {
  readonly #requests: Requests;
  readonly #api: Api;

  constructor(importer: Importer, progress: Progress, total: number) {
    this.#requests = new Requests(importer, progress, total);
    this.#api = importer.api;
  }

  async add(card: string, lots: readonly Omit<Lot, "key">[]): Promise<void> {
    for (const lot of lots) await this.#requests.add(card, () => this.#addLot(card, lot));
  }

  flush(): Promise<void> {
    return this.#requests.flush();
  }

  /**
   * All runs send the same keys in the same order, so that a request of a run that was killed and one of the next run
   * take effect once. A stored rejection is replayed for two days, also after its cause was corrected: then the next key
   * is tried, until one is carried out.
   */
  async #addLot(card: string, { date, points }: Omit<Lot, "key">): Promise<void> {
    const balance = `/v1/loyalties/members/${encode(card)}/balance`;
    const body = {
      points: Number(points),
      expiration_type: "CUSTOM_DATE",
      expiration_date: date,
      reason: "Moved",
    };
    for (let attempt = 1; ; attempt += 1) {
      const suffix = attempt === 1 ? "" : ` ${attempt}`;
      try {
        await this.#api.post(balance, body, `import-from ${keyNameOf(card)} ${date}${suffix}`);
        return;
      } catch (error) {
        const isEarlier = error instanceof HttpError && error.isReplay;
        if (!isEarlier || attempt === MAX_KEYS) throw error;
      }
    }
  }
}

/** The code in an idempotency key, which is ASCII and has up to 255 characters. */
const keyNameOf = (code: string): string =>
  /^[\x20-\x7e]{1,200}$/.test(code) ? code : createHash("sha256").update(code).digest("hex");

/** Runs within two days that are rejected. */
const MAX_KEYS = 100;

const RETRY_MS = 2000;
/** Longer than the window of a rate limit; imports have one of an hour. */
const MAX_RETRIES = 1900;

/** Repeats a request while the API limits the rate, or for a minute of outage. */
async function patiently<Result>(send: Attempt<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await send(attempt);
    } catch (error) {
      const limit = error instanceof HttpError && error.status === 429 ? MAX_RETRIES : 30;
      if (!isOutage(error) || attempt > limit) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}
