import type { VoucherDefinition } from "./voucher.ts";

/** What decides whether a loyalty card can be used. */
export type CardDefinition = Pick<
  VoucherDefinition,
  "projectId" | "id" | "type" | "holderId" | "active" | "version"
> & {
  readonly validity: Pick<VoucherDefinition["validity"], "startDate" | "expirationDate">;
};

/** Whether an edit changes what others know of a card; nobody knows cards without holder. */
export const changesCard = (before: CardDefinition, after: CardDefinition): boolean =>
  after.type === "LOYALTY_CARD" &&
  after.holderId !== null &&
  ((before.active === false) !== (after.active === false) ||
    before.validity.startDate !== after.validity.startDate ||
    before.validity.expirationDate !== after.validity.expirationDate);

/** Whether a published card differs from one that can always be used. */
export const hasLimits = ({ type, active, validity }: CardDefinition): boolean =>
  type === "LOYALTY_CARD" &&
  (active === false || validity.startDate !== null || validity.expirationDate !== null);
