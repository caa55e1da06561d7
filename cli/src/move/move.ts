import { rm, stat } from "node:fs/promises";
import path from "node:path";

import type { Api } from "../api.ts";
import { usageError } from "../cli-error.ts";
import { encode } from "../commands/arguments.ts";
import { runAction, runExport } from "../commands/transfers.ts";
import type { Context } from "../context.ts";
import { HttpError, type JsonObject } from "../http.ts";
import {
  itemWithLots,
  joinLots,
  lotOf,
  lotToStore,
  missingLots,
  type Named,
  storedWithLots,
  type StoredLot,
} from "./expirations.ts";
import {
  CustomerImport,
  type Importer,
  PointsImport,
  Publisher,
  VoucherImport,
} from "./import-items.ts";
import { type MovedItem, type MovedKind, RowFault, type StoredItem } from "./moved-item.ts";
import { Partitions } from "./partitions.ts";
import { differingFields, Findings, join, type Pair, Reconciliation } from "./reconciliation.ts";
import { readRows, readSources, type SourceFile, type Used } from "./source-files.ts";
import { readTable } from "./table.ts";
import { CUSTOMERS, VOUCHERS } from "./voucherify.ts";

/** Files with objects of one kind. */
export type Group = {
  readonly kind: MovedKind;
  readonly files: readonly SourceFile[];
  /** Vouchers: files with the points that expire. Without them, no dates are moved or compared. */
  readonly expirations?: readonly string[];
};

/** Two parts of this size, as objects, are in memory at once. */
const PART_BYTES = 4 * 1024 * 1024;
const MAX_PARTS = 1024;

const LOTS = {
  noun: "lots",
  exported: {
    object: "points_expiration",
    fields: ["voucher_id", "status", "expires_at", "points"],
  },
} as const;

type Sides = {
  readonly kind: MovedKind;
  readonly withExpirations: boolean;
  readonly items: Partitions<MovedItem>;
  readonly stored: Partitions<StoredItem>;
};

/** Compares files with a project, and imports what the project lacks. */
export class Move {
  readonly problems = new Findings();
  readonly notes: string[] = [];
  readonly #context: Context;
  readonly #api: Api;
  readonly #folder: string;
  readonly #sides = new Map<MovedKind, Sides>();
  readonly #used: Used = { campaigns: new Map(), metadataKeys: new Set(), typedKeys: new Set() };
  readonly #missingCampaigns = new Set<string>();
  #exports = 0;

  constructor(context: Context, api: Api, folder: string) {
    this.#context = context;
    this.#api = api;
    this.#folder = folder;
  }

  async compare(groups: readonly Group[]): Promise<Reconciliation> {
    for (const { kind, files, expirations = [] } of groups) {
      const exported = await this.#export(kind);
      const sizes = await Promise.all([...files.map(({ file }) => file), exported].map(sizeOf));
      const bytes = sizes.reduce((sum, size) => sum + size, 0);
      const parts = Math.min(MAX_PARTS, Math.ceil(bytes / PART_BYTES) + 1);
      const items = new Partitions<MovedItem>(this.#folder, kind.noun, parts);
      const { problems } = this;
      const { startProgress } = this.#context;
      const used: Used =
        kind === VOUCHERS
          ? this.#used
          : { ...this.#used, metadataKeys: new Set(), typedKeys: new Set() };
      const withExpirations = expirations.length > 0;
      const sources = { used, problems, startProgress };
      if (withExpirations) await this.#readWithExpirations({ files, expirations }, items, sources);
      else await readSources(files, { items, ...sources });
      const stored = await this.#partition({ kind, withExpirations, items }, exported);
      this.#sides.set(kind, { kind, withExpirations, items, stored });
    }
    return this.#reconcile((noun, { key }) => {
      this.problems.add(`${noun} ${key} is listed more than once`);
    });
  }

  async compareAgain(): Promise<Reconciliation> {
    for (const [kind, sides] of this.#sides) {
      const stored = await this.#partition(sides, await this.#export(kind));
      this.#sides.set(kind, { ...sides, stored });
    }
    return this.#reconcile();
  }

  /** Campaigns must exist; metadata that is not text needs a schema. */
  async checkProject(): Promise<void> {
    for (const [name, types] of this.#used.campaigns) {
      const template = await this.#templateOf(name);
      if (template === undefined) {
        this.#missingCampaigns.add(name);
        this.problems.add(`campaign "${name}" does not exist`);
        continue;
      }
      for (const type of types) {
        if (type !== template)
          this.problems.add(`campaign "${name}" has no vouchers of type ${type}`);
      }
    }
    const defined = await this.#definedKeys();
    const untyped = [...this.#used.typedKeys].filter((key) => !defined.has(key));
    if (untyped.length > 0) {
      this.notes.push(
        `Metadata of vouchers that becomes text, because no schema defines it: ${untyped.join(", ")}`,
      );
    }
  }

  async import(kind: MovedKind): Promise<void> {
    const { withExpirations } = this.#sides.get(kind) as Sides;
    const importer: Importer = {
      api: this.#api,
      problems: this.problems,
      waitFor: (id) => runAction(this.#context, this.#api, id),
    };
    if (kind === CUSTOMERS) {
      const customers = new CustomerImport(importer);
      for await (const pair of this.#importable(kind)) {
        if (isCustomerToSend(pair)) await customers.add(pair.item);
      }
      await customers.flush();
      return;
    }
    const vouchers = new VoucherImport(importer, this.#folder, [...this.#used.metadataKeys]);
    let holders = 0;
    for await (const pair of this.#importable(kind)) {
      if (pair.stored === undefined) await vouchers.add(pair.item);
      if (needsHolder(pair)) holders += 1;
    }
    await vouchers.flush();
    using progress = this.#context.startProgress("publishing to holders");
    const publisher = new Publisher(importer, progress, holders);
    for await (const pair of this.#importable(kind)) {
      if (needsHolder(pair)) await publisher.add(pair.item);
    }
    await publisher.flush();
    if (withExpirations) await this.#importExpirations(importer, kind);
  }

  /** Items of campaigns that do not exist are left out; each campaign is a problem. */
  async *#importable(kind: MovedKind): AsyncGenerator<Pair> {
    const { items, stored } = this.#sides.get(kind) as Sides;
    for await (const pair of join(items, stored)) {
      if (!this.#missingCampaigns.has(pair.item.campaign)) yield pair;
    }
  }

  /** Runs after the publications, because points can only be added to cards with a holder. */
  async #importExpirations(importer: Importer, kind: MovedKind): Promise<void> {
    let total = 0;
    for await (const pair of this.#importable(kind))
      total += missingLots(pair.item, pair.stored).length;
    using progress = this.#context.startProgress("adding points that expire");
    const points = new PointsImport(importer, progress, total);
    for await (const pair of this.#importable(kind)) {
      await points.add(pair.item.key, missingLots(pair.item, pair.stored));
    }
    await points.flush();
  }

  /** Vouchers name their id in the files, and so do the points that expire. */
  async #readWithExpirations(
    { files, expirations }: Required<Omit<Group, "kind">>,
    items: Partitions<MovedItem>,
    sources: Omit<Parameters<typeof readSources>[1], "items">,
  ): Promise<void> {
    const lots = new Partitions<StoredLot>(this.#folder, "lots", items.count);
    for (const file of expirations) await this.#readLots(file, lots);
    await lots.flush();
    const vouchers = new Partitions<Named<MovedItem>>(this.#folder, "vouchers", items.count);
    const named = {
      add: (item: MovedItem) => vouchers.add({ key: item.id, item }),
      flush: () => vouchers.flush(),
    };
    await readSources(files, { items: named, ...sources });
    await joinLots(
      { vouchers, lots },
      {
        onVoucher: async (item, ofVoucher) => {
          try {
            await items.add(itemWithLots(item, ofVoucher));
          } catch (error) {
            if (!(error instanceof RowFault)) throw error;
            this.problems.add(error.message);
          }
        },
        onUnknown: (id) => this.problems.add(`points of voucher ${id}: no file has this ID`),
      },
    );
    await items.flush();
  }

  async #readLots(file: string, lots: Partitions<StoredLot>): Promise<void> {
    await readRows(readTable(file), { file, problems: this.problems }, async (row) => {
      const lot = lotOf(row);
      if (lot !== undefined) await lots.add(lotToStore(lot));
    });
  }

  async #reconcile(onRepeat?: (noun: string, item: MovedItem) => void): Promise<Reconciliation> {
    const found = new Reconciliation();
    for (const { kind, items, stored } of this.#sides.values()) {
      for await (const pair of join(items, stored, (item) => onRepeat?.(kind.noun, item)))
        found.addItem(kind, pair.item, pair.stored);
    }
    return found;
  }

  async #export({ noun, exported }: Pick<MovedKind, "noun" | "exported">): Promise<string> {
    this.#exports += 1;
    const file = path.join(this.#folder, `${noun}-export-${this.#exports}.csv`);
    await runExport(this.#context, this.#api, file, {
      exported_object: exported.object,
      parameters: { fields: exported.fields },
    });
    return file;
  }

  async #partition(
    { kind, withExpirations, items: { count } }: Omit<Sides, "stored">,
    file: string,
  ): Promise<Partitions<StoredItem>> {
    const name = `${kind.noun}-stored-${this.#exports}`;
    const stored = new Partitions<StoredItem>(this.#folder, name, count);
    if (!withExpirations) {
      for await (const { cells } of readTable(file)) await stored.add(kind.storedOf(cells));
    } else {
      const vouchers = new Partitions<Named<StoredItem>>(this.#folder, `${name}-by-id`, count);
      for await (const { cells } of readTable(file)) {
        const item = kind.storedOf(cells);
        await vouchers.add({ key: item.id, item });
      }
      await vouchers.flush();
      const lots = new Partitions<StoredLot>(this.#folder, `${name}-lots`, count);
      const exported = await this.#export(LOTS);
      await this.#readLots(exported, lots);
      await lots.flush();
      await rm(exported);
      await joinLots(
        { vouchers, lots },
        {
          onVoucher: (item, ofVoucher) => stored.add(storedWithLots(item, ofVoucher)),
          // Expirations of cards that were deleted are ignored.
          onUnknown: () => {},
        },
      );
    }
    await stored.flush();
    await rm(file);
    return stored;
  }

  async #templateOf(name: string): Promise<string | undefined> {
    try {
      const campaign = await this.#api.call("GET", `/v1/campaigns/${encode(name)}`);
      return String((campaign["voucher"] as JsonObject | undefined)?.["type"]);
    } catch (error) {
      if (error instanceof HttpError && error.status === 404) return undefined;
      throw error;
    }
  }

  async #definedKeys(): Promise<ReadonlySet<string>> {
    try {
      const schema = await this.#api.call("GET", "/v1/metadata-schemas/voucher");
      return new Set(Object.keys(schema["properties"] as JsonObject));
    } catch (error) {
      if (error instanceof HttpError && error.status === 404) return new Set();
      throw error;
    }
  }
}

/** Updates existing customers with the values of the file that differ. */
const isCustomerToSend = ({ item, stored }: Pair): boolean =>
  stored === undefined || differingFields(item, stored).length > 0;

const needsHolder = ({ item, stored }: Pair): boolean =>
  item.values["holder"] !== undefined && !stored?.values["holder"];

async function sizeOf(file: string): Promise<number> {
  const { size } = await stat(file).catch((error: Error) => {
    throw usageError(`${file} cannot be read: ${error.message}`);
  });
  return size;
}
