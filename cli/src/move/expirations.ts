import { dayOf, integerOf, needColumn, textOf } from "./cells.ts";
import { type MovedItem, RowFault, type StoredItem } from "./moved-item.ts";
import type { Partitions } from "./partitions.ts";
import type { TableRow } from "./table.ts";

/** Points of a card that expire on a day; the key is the id of the card's voucher. */
export type Lot = { readonly key: string; readonly date: string; readonly points: bigint };

/**
 * The lot of a row in the form of the source files and of exports; undefined for lots that are empty, have expired or
 * never expire.
 */
export function lotOf(row: TableRow): Lot | undefined {
  needColumn(row, "Voucher ID", ["voucher_id"]);
  const key = textOf(row, "voucher_id");
  if (key === "") throw new RowFault("Voucher ID is empty");
  const status = textOf(row, "status").toUpperCase() || "ACTIVE";
  const date = dayOf(row, "expires_at");
  const points = BigInt(integerOf(row, "points") || 0);
  return status === "ACTIVE" && date !== "" && points > 0n ? { key, date, points } : undefined;
}

/** Points by day, in the form in which both sides are compared: `2027-06-30 100, 2027-12-31 50`. */
const textOfLots = (lots: ReadonlyMap<string, bigint>): string =>
  [...lots]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([date, points]) => `${date} ${points}`)
    .join(", ");

const lotsOfText = (text: string): ReadonlyMap<string, bigint> =>
  new Map(
    text
      .split(", ")
      .filter(Boolean)
      .map((lot) => {
        const [date = "", points = ""] = lot.split(" ");
        return [date, BigInt(points)];
      }),
  );

export const sumOfLots = (text: string): bigint => sumOf([...lotsOfText(text).values()]);

const sumOf = (points: readonly bigint[]): bigint => points.reduce((sum, each) => sum + each, 0n);

export const storedWithLots = (
  stored: StoredItem,
  lots: ReadonlyMap<string, bigint>,
): StoredItem => ({ ...stored, values: { ...stored.values, expirations: textOfLots(lots) } });

/** A card is imported with the points that never expire; the others are added to it with their dates. */
export function itemWithLots(item: MovedItem, lots: ReadonlyMap<string, bigint>): MovedItem {
  if (item.values["type"] !== "LOYALTY_CARD") return item;
  const expirations = textOfLots(lots);
  const lasting = BigInt(item.values["balance"] ?? 0) - sumOfLots(expirations);
  const name = `voucher ${item.key}`;
  if (lasting < 0n) throw new RowFault(`${name}: more points expire than the card has`);
  if (lots.size > 0 && item.values["holder"] === undefined) {
    throw new RowFault(`${name}: points of a card without a holder cannot expire`);
  }
  return {
    ...item,
    values: { ...item.values, expirations },
    content: { ...item.content, "Loyalty Points": String(lasting) },
  };
}

/**
 * Dates that a card lacks. Nothing if its points would not add up: they were moved without their dates, or have
 * changed since.
 */
export function missingLots(
  { values }: MovedItem,
  stored: StoredItem | undefined,
): readonly Omit<Lot, "key">[] {
  const known = lotsOfText(stored?.values["expirations"] ?? "");
  const missing = [...lotsOfText(values["expirations"] ?? "")]
    .filter(([date]) => !known.has(date))
    .map(([date, points]) => ({ date, points }));
  if (stored === undefined) return missing;
  const sum = sumOf(missing.map(({ points }) => points));
  const adds = BigInt(stored.values["balance"] || 0) + sum === BigInt(values["balance"] || 0);
  return adds ? missing : [];
}

/** A voucher with the key that lots name it by. */
export type Named<Item> = { readonly key: string; readonly item: Item };

/** Joins vouchers and lots part by part. */
export async function joinLots<Item>(
  {
    vouchers,
    lots,
  }: { readonly vouchers: Partitions<Named<Item>>; readonly lots: Partitions<StoredLot> },
  {
    onVoucher,
    onUnknown,
  }: {
    readonly onVoucher: (item: Item, lots: ReadonlyMap<string, bigint>) => Promise<void>;
    readonly onUnknown: (voucherId: string) => void;
  },
): Promise<void> {
  for (let index = 0; index < vouchers.count; index += 1) {
    const byVoucher = new Map<string, Map<string, bigint>>();
    for await (const { key, date, points } of lots.read(index)) {
      const ofVoucher = byVoucher.get(key) ?? new Map<string, bigint>();
      byVoucher.set(key, ofVoucher.set(date, (ofVoucher.get(date) ?? 0n) + BigInt(points)));
    }
    const seen = new Set<string>();
    for await (const { key, item } of vouchers.read(index)) {
      seen.add(key);
      await onVoucher(item, byVoucher.get(key) ?? NO_LOTS);
    }
    for (const key of byVoucher.keys()) if (!seen.has(key)) onUnknown(key);
  }
}

const NO_LOTS: ReadonlyMap<string, bigint> = new Map();

/** A lot as it is written to disk. */
export type StoredLot = Omit<Lot, "points"> & { readonly points: string };

export const lotToStore = ({ points, ...lot }: Lot): StoredLot => ({
  ...lot,
  points: String(points),
});
