import type { Metadata, RuleName, TimeContext } from "@scrip/rules";

import type { CatalogueItem } from "../input/catalogue-item.ts";
import type { CallerIdentity, CustomerSnapshot } from "../input/customer.ts";
import type { OrderSnapshot } from "../input/order.ts";
import type { Redeemable } from "../input/redeemable.ts";
import type { Rejection } from "../rejections/rejection.ts";
import type { StackingRules } from "../stacking/stacking-rules.ts";

/** Everything that a decision depends on, as plain data loaded before. */
export type DecisionRequest = {
  /** In the order of the request. */
  readonly redeemables: readonly Redeemable[];
  readonly order: OrderSnapshot | null;
  readonly customer: CustomerSnapshot | null;
  /** Metadata of the validation or redemption itself. */
  readonly metadata: Metadata;
  readonly time: TimeContext;
  readonly stacking: StackingRules;
  /** Counts of earlier redemptions by `countKey`; `countsToLoad` lists those that are needed. */
  readonly counts: ReadonlyMap<string, bigint>;
  /** By the id or source id that a discount or a rule's applicable items use. */
  readonly catalogue: ReadonlyMap<string, CatalogueItem>;
  readonly caller: CallerIdentity;
  /** Whether to return explanations and hints. */
  readonly explain: boolean;
  /** Conditions to ignore. Default: none. */
  readonly ignored?: IgnoredConditions;
  /**
   * By `redeemableKey`: redeemables that concurrent requests have exhausted, with their rejections.
   */
  readonly conflicts?: ReadonlyMap<string, Rejection>;
};

/** Conditions that count as met without evaluation; qualifications ignore budgets, for example. */
export type IgnoredConditions = {
  readonly rules: ReadonlySet<RuleName>;
  /** Missing bundles are reported, but do not reject the redeemable. */
  readonly bundles: boolean;
  /** Rejections of the discount's effect that are replaced by an effect of zero. */
  readonly rejections?: ReadonlySet<Rejection["key"]>;
};
