import type { Category } from "@scrip/proto/scrip/common/v1/category_pb";
import type { Customer } from "@scrip/proto/scrip/common/v1/customer_pb";
import type { Order } from "@scrip/proto/scrip/common/v1/order_pb";
import type { LoadedCard } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import type { StoredCustomer } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type { CommitOutcome, LoadedVoucher } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

import type { CatalogueLine } from "../domain/catalogue/product-collections.ts";
import type { DecisionRequest, IgnoredConditions } from "../domain/decision/decision-request.ts";
import type { StackingRules } from "../domain/stacking/stacking-rules.ts";
import type { RedeemableInput, DecisionInput } from "./decision-input.ts";
import type { Promotions } from "./promotions.ts";

/** The redeemables of a request as they are stored; loaded again for each attempt. */
export type ResolvedRedeemables = {
  /** Stacks are replaced by their tiers. */
  readonly redeemables: readonly RedeemableInput[];
  /** By the code or id in the request. */
  readonly vouchers: ReadonlyMap<string, LoadedVoucher>;
  readonly promotions: Promotions;
  /** Outcome of an earlier request with the same idempotency key. */
  readonly storedOutcome: CommitOutcome | undefined;
};

/** The part of the context that stays the same for all attempts of a request. */
export type RequestContext = {
  readonly input: DecisionInput;
  readonly requestedCustomer: Customer | undefined;
  readonly customer: StoredCustomer | undefined;
  readonly storedOrder: Order | null;
  /** Catalogue data of the order lines. */
  readonly lines: readonly CatalogueLine[];
  readonly stacking: StackingRules;
  /** Whether to record the steps of the decision. */
  readonly trace: boolean;
  /** Conditions to skip (qualifications only); no counts are loaded then. */
  readonly omits?: IgnoredConditions;
  /** Whether the order will be stored (redemptions only): then its items record all their collections. */
  readonly storesOrder?: boolean;
};

/** The input of a decision and of its response. */
export type DecisionContext = RequestContext &
  ResolvedRedeemables & {
    readonly request: DecisionRequest;
    /** Loyalty cards by the ids of their vouchers. */
    readonly cards: ReadonlyMap<string, LoadedCard>;
    /** Categories by id; only loaded if they are displayed or their hierarchy is used. */
    readonly categories: ReadonlyMap<string, Category>;
  };
