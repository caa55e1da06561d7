/**
 * A fast compression of short binary messages that many rows store, such as orders and explanations: LZ77 with a fixed
 * dictionary of what such messages contain. On messages of 100 to 1,000 bytes it takes a few microseconds; zlib and
 * zstd take ten times as long, most of it for setting up.
 *
 *     0x00  version  varint length  { token  literals…  [distance, 2 bytes] }
 *
 * A token holds the number of literals (high half) and the length of the match less 4 (low half); 15 continues in a
 * varint. The last sequence has no match. No protobuf message begins with 0x00, so anything else is stored as it is.
 */

const MARKER = 0;
const VERSION = 1;

/**
 * Never change it: rows refer to it. A better one gets another version. The last parts are the most frequent.
 */
const DICTIONARY_V1 = Buffer.from(
  [
    "promotion_tier\x12\x0cAPPLY_TO_ITEMS ADD_MISSING_ITEMS ADD_NEW_ITEMS campaign_type DISCOUNT_COUPONS GIFT_VOUCHERS LOYALTY_PROGRAM",
    "quantity_exceededSKIPPEDINAPPLICABLEnot met, requires is less than or equal to more than ",
    "redemption_rules_violatedvalidation rule val_01a\x1a\x0bis in force",
    "APPLY_TO_ORDER changes nothing\x12\x19\n\x06effect\x1a\x0fchanges nothing",
    "PERCENTAMOUNT_OFFGIFT_VOUCHERLOYALTY_CARDDISCOUNT_VOUCHER\x08\x01\x1a\x0210",
    "\n\nAPPLICABLE\x12\x15\n\x06active\x10\x01\x1a\tis active\x12/\n\x05dates\x10\x01\x1a$is valid at 2026-11-22T12:00:00.000Z",
    "\x121\n\x08quantity\x10\x01\x1a!redeemed 0 times, without a limitP\x00",
    "\x12)\n\x06effect\x10\x01\x1a\x1dAPPLY_TO_ORDER discounts 1000\x1a\x02",
    "\x12\x17/v1/assets/qr/\x12)\n\t\x12\x1c/v1/assets/barcode/\xb2\x01",
    "\xd2\x01:\x128/v1/vouchers/\xda\x01;\x10\x01*7/v1/vouchers//publications?page=1&limit=10/redemptions?page=1&limit=10",
    '\xc2\x01\x07voucher\xca\x01\x14v_01a"1track_*)\n\x10\n\x07\x12\x05\x1a\x03webR\x1d\n\x16app_01a\x12\x03APIZM\n\x17cust_01a\x12\n@example.comB\x00b\x07voucherj\x14v_01a',
    "\n\x08\n\x08\n\x14r_01a\x12\x0c\x08\x1a\x17cust_01a8\x01@\x01J\xaa\x03",
    '\n\x16ord_01a\x12\norder-\x18\x02 \x98\x75(\x98\x75jE\n\x18ordli_01a\x12\x05sku-*\x03sku0\x018\x01H\xe8\x07P\xe8\x07X\xe8\x07\x88\x01\xe8\x07\x90\x01\x0b\x9a\x01"\n product',
    "r\x00z\x0c\x08\xaf\xb2\xd8\xd0\x06\x10\x82\x01\x17cust_01a\x8a\x01#\n\x17cust_01a\x12\x08customer\xaa\x01E\n\x14r_01a\x12-\n\x0c\x08\xaf\xb2\xd8\xd0\x06\x10\x12\x07voucher\x1a\x14v_01a",
  ].join(""),
  "latin1",
);

const MIN_MATCH = 4;
const LONG = 15;
const MAX_DISTANCE = 65_535;
/** PostgreSQL compresses larger ones. */
const MAX_LENGTH = 4_096;
const HASH_BITS = 12;

const hashAt = (bytes: Uint8Array, at: number): number => {
  const word =
    (bytes[at] ?? 0) |
    ((bytes[at + 1] ?? 0) << 8) |
    ((bytes[at + 2] ?? 0) << 16) |
    ((bytes[at + 3] ?? 0) << 24);
  return Math.imul(word, 0x9e3779b1) >>> (32 - HASH_BITS);
};

/** The dictionary and behind it the message, and the last position of each hash in both. */
const scratch = new Uint8Array(DICTIONARY_V1.length + MAX_LENGTH);
const START = DICTIONARY_V1.length;
scratch.set(DICTIONARY_V1);
const dictionaryPositions = new Int32Array(1 << HASH_BITS).fill(-1);
for (let at = 0; at <= START - MIN_MATCH; at += 1) dictionaryPositions[hashAt(scratch, at)] = at;
const positions = new Int32Array(1 << HASH_BITS);
const output = new Uint8Array(MAX_LENGTH);

/** Returns the message itself where that is as short. */
export function packBytes(message: Uint8Array): Uint8Array {
  const { length } = message;
  if (length < MIN_MATCH || length > MAX_LENGTH) return message;
  scratch.set(message, START);
  positions.set(dictionaryPositions);
  const end = START + length;
  output[0] = MARKER;
  output[1] = VERSION;
  let to = writeVarint(2, length);
  let literals = START;
  let at = START;
  while (at <= end - MIN_MATCH) {
    const hash = hashAt(scratch, at);
    const from = positions[hash] ?? -1;
    positions[hash] = at;
    const matched = from < 0 || at - from > MAX_DISTANCE ? 0 : matchLength(from, at, end);
    if (matched < MIN_MATCH) {
      at += 1;
      continue;
    }
    // As long as what is left: a sequence without a gain, at most.
    if (to + at - literals + 12 >= length) return message;
    to = writeSequence(to, { literals, at, matched, distance: at - from });
    const next = at + matched;
    for (at += 1; at < next && at <= end - MIN_MATCH; at += 1) positions[hashAt(scratch, at)] = at;
    at = next;
    literals = at;
  }
  if (to + end - literals + 6 >= length) return message;
  to = writeLiterals(to, { from: literals, to: end, low: 0 });
  return output.slice(0, to);
}

function matchLength(from: number, at: number, end: number): number {
  let length = 0;
  while (at + length < end && scratch[from + length] === scratch[at + length]) length += 1;
  return length;
}

function writeSequence(
  start: number,
  sequence: {
    readonly literals: number;
    readonly at: number;
    readonly matched: number;
    readonly distance: number;
  },
): number {
  const { literals, at, matched, distance } = sequence;
  const more = matched - MIN_MATCH;
  let to = writeLiterals(start, { from: literals, to: at, low: Math.min(more, LONG) });
  output[to] = distance & 0xff;
  output[to + 1] = distance >> 8;
  to += 2;
  return more < LONG ? to : writeVarint(to, more - LONG);
}

function writeLiterals(
  start: number,
  { from, to: until, low }: { readonly from: number; readonly to: number; readonly low: number },
): number {
  const count = until - from;
  output[start] = (Math.min(count, LONG) << 4) | low;
  let to = start + 1;
  if (count >= LONG) to = writeVarint(to, count - LONG);
  for (let index = from; index < until; index += 1, to += 1) output[to] = scratch[index] ?? 0;
  return to;
}

function writeVarint(at: number, value: number): number {
  let to = at;
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7, to += 1) output[to] = (rest & 0x7f) | 0x80;
  output[to] = rest;
  return to + 1;
}

/** The message as it was passed to `packBytes`, also when that stored it as it is. */
export function unpackBytes(stored: Uint8Array): Uint8Array {
  if (stored[0] !== MARKER) return stored;
  if (stored[1] !== VERSION)
    throw new Error(`a message is packed in the unknown form ${stored[1]}`);
  let at = 2;
  const byte = (): number => {
    const value = stored[at];
    if (value === undefined) throw new Error("a packed message ends early");
    at += 1;
    return value;
  };
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const part = byte();
      value |= (part & 0x7f) << shift;
      if (part < 0x80) return value;
    }
    throw new Error("a packed message has an invalid length");
  };
  const message = new Uint8Array(varint());
  let to = 0;
  while (to < message.length) {
    const token = byte();
    const literals = token >> 4 === LONG ? LONG + varint() : token >> 4;
    for (let index = 0; index < literals; index += 1, to += 1) message[to] = byte();
    if (to >= message.length) break;
    const from = to - (byte() | (byte() << 8));
    const matched = MIN_MATCH + ((token & LONG) === LONG ? LONG + varint() : token & LONG);
    for (let index = from; index < from + matched; index += 1, to += 1) {
      message[to] = (index < 0 ? DICTIONARY_V1[START + index] : message[index]) ?? 0;
    }
  }
  return message;
}
