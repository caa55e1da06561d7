/** The cart that all systems get: three lines of 10.00 each, quantities 1, 2 and 3. */
export const UNIT_PRICE = 1_000;
export const QUANTITIES = [1, 2, 3] as const;
export const SUBTOTAL = 6_000;

/** Each code gives 10 % off orders of at least 10.00. */
export const PERCENT_OFF = 10;
export const MINIMUM = 1_000;
export const DISCOUNT = 600;

/** Codes that are drawn from: few, because Vendure loads all promotions for each calculation of an order. */
export const CODES = 100;
export const codeOf = (index: number): string => `PEER-${String(index).padStart(3, "0")}`;
export const randomCode = (): string => codeOf(Math.floor(Math.random() * CODES));
export const HOT_CODE = codeOf(0);

/** A limit that no run reaches. */
export const NO_LIMIT = 1_000_000_000;

/** The code of the concurrent redemptions. */
export const RACE_CODE = "PEER-RACE";
export const RACE_LIMIT = 100;
