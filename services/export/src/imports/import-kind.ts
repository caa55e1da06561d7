import type { DescMessage, JsonObject, Message } from "@bufbuild/protobuf";
import type { ItemOutcome } from "@scrip/proto/scrip/common/v1/items_pb";
import type { Call } from "@scrip/rpc";

import type { JsonObject as Name } from "../domain/job.ts";
import type { CsvRow } from "./csv-row.ts";

/** A slice of an import: its input, and the call of each of its steps. */
type ImportStep = {
  /** Id of the import. */
  readonly id: string;
  readonly call: (step: string) => Call;
  readonly input: ImportInput;
};

/** What is imported, and how its owner receives it. */
export type ImportKind<Item extends Message = Message> = {
  /** Item as the owner receives it. */
  readonly schema: DescMessage;
  /** Field of the item that contains what the client sent. Default: the item itself. */
  readonly content?: string;
  readonly noun: "voucher" | "customer" | "product" | "sku" | "order";
  /** Field that identifies the item in a failure. */
  readonly nameOf: (item: Item) => Name;
  /** Resource whose metadata schema applies, and whether required keys must be present. */
  readonly metadataOf: (
    item: Item,
    input: ImportInput,
  ) => {
    readonly resource: string;
    readonly metadata: JsonObject | undefined;
    readonly isComplete: boolean;
  };
  /** Calls the owner with at most 500 items, under the key of the slice; one outcome for each. */
  readonly send: (items: readonly Item[], slice: ImportStep) => Promise<readonly ItemOutcome[]>;
  /** Called before the first batch, and again if that is repeated. */
  readonly begin?: (slice: ImportStep) => Promise<void>;
  /** Called once no batch follows, also when the import fails, and again if the last batch is repeated. */
  readonly end?: (slice: ImportStep) => Promise<void>;
  /** Only for kinds that CSV files hold. */
  readonly csv?: {
    /** Known columns by their normalised names; others are metadata. */
    readonly columns: readonly string[];
    /** One of them must be in the file. */
    readonly required: readonly string[];
    /** Fields of an unreadable row that a failure shows. */
    readonly nameOfRow: (row: CsvRow) => Name;
    /** Throws a CellFault for a cell that cannot be read. */
    readonly toItem: (row: CsvRow) => Item;
  };
};

/** The part of the request that the job needs; the imported data is in the file. */
export type ImportInput = {
  readonly fileId: string;
  readonly campaignId?: string;
  /** Whether webhooks receive each item. */
  readonly sendsWebhooks?: boolean;
  /** Metadata schemas of the project at the time of the request. */
  readonly schemas?: Name;
  /** Names of the columns of a CSV file, as the file has them. */
  readonly columns?: readonly string[];
  /** Position behind the header. */
  readonly start?: number;
  /** Merged into the metadata of every item. */
  readonly metadata?: Name;
};

/** The part of a kind that starting an import needs. */
export type CsvKind = {
  readonly csv?: Pick<NonNullable<ImportKind["csv"]>, "required">;
};
