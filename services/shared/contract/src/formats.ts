/** The bound keeps exact arithmetic cheap; no percentage is longer. */
const LONGEST_DECIMAL = 40;

const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

/** Plain decimal notation, which is also a JSON number: no exponent, no leading zeros. */
export function isDecimal(text: string): boolean {
  return text.length <= LONGEST_DECIMAL && DECIMAL.test(text);
}

/** Compares two decimals exactly: negative when the first is lower, 0 when they are equal. */
export function compareDecimals(left: string, right: string): number {
  const scale = Math.max(fractionDigits(left), fractionDigits(right));
  const difference = scaled(left, scale) - scaled(right, scale);
  if (difference === 0n) return 0;
  return difference < 0n ? -1 : 1;
}

function fractionDigits(text: string): number {
  const point = text.indexOf(".");
  return point === -1 ? 0 : text.length - point - 1;
}

function scaled(text: string, scale: number): bigint {
  return BigInt(text.replace(".", "") + "0".repeat(scale - fractionDigits(text)));
}

const DAY = /^(\d{4})-(\d{2})-(\d{2})$/;

/** `YYYY-MM-DD`, an existing day in the years 0001 to 9999. */
export function isCalendarDay(text: string): boolean {
  const match = DAY.exec(text);
  if (match === null) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  return year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Counts characters instead of UTF-16 units, only where the number of units does not decide. */
export function isLongerThan(text: string, max: number): boolean {
  return text.length > max && codePoints(text) > max;
}

export function isShorterThan(text: string, min: number): boolean {
  return text.length < min || (text.length < min * 2 && codePoints(text) < min);
}

function codePoints(text: string): number {
  let count = text.length;
  for (let index = 0; index + 1 < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code >= 0xd800 && code <= 0xdbff) {
      count -= 1;
      index += 1;
    }
  }
  return count;
}
