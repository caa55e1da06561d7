import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import {
  type CampaignResult,
  type CampaignQuerySchema,
  CampaignService,
  type ListCampaignsRequestSchema,
  type ListCampaignsResponse,
} from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import {
  type CategoryResult,
  type CategoryQuerySchema,
  CategoryService,
} from "@scrip/proto/scrip/campaign/v1/categories_pb";
import type {
  CardsResult,
  CardsQuery,
  PointsRelease,
  PointsReservationCommand,
  PointsReservationOutcome,
  HoldPointsCommand,
  HoldPointsOutcome,
} from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import {
  type CustomerResult,
  type CustomerQuerySchema,
  CustomerService,
} from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import {
  EarningRuleService,
  type EstimateEarningsRequestSchema,
  type EstimateEarningsResponse,
} from "@scrip/proto/scrip/loyalty/v1/earning_rules_pb";
import type {
  RewardAssignmentQuery,
  RewardAssignmentResult,
} from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
import {
  type ListSegmentsRequestSchema,
  type ListSegmentsResponse,
  SegmentService,
} from "@scrip/proto/scrip/loyalty/v1/segments_pb";
import {
  type CandidateResult,
  type CandidateQuerySchema,
  CandidateService,
} from "@scrip/proto/scrip/voucher/v1/candidates_pb";
import {
  CommitRedemptionsRequestSchema,
  type CommitOutcome,
  type CountResult,
  type CountQuery,
  CountRedemptionsRequestSchema,
  LoadVouchersRequestSchema,
  type Redemption,
  RedemptionService,
  type RedemptionCommand,
  type ReservationCommand,
  type ReservationOutcome,
  ReserveVouchersRequestSchema,
  type PointsHoldKey,
  type RollbackCommand,
  type RollbackOutcome,
  CommitRollbacksRequestSchema,
  type VoucherResult,
  type VoucherQuery,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import {
  type ListVouchersRequestSchema,
  type ListVouchersResponse,
  VoucherService,
} from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { type Call, clientOf, createCoalescer, serviceCall } from "@scrip/rpc";

import { mayBeOneBadItem } from "./clients/batch-failure.ts";
import { type Batched, WITHOUT_SINGLE_RETRY, type Transports } from "./clients/batching.ts";
import { cardClients } from "./clients/cards.ts";

/** One function per call to another service; concurrent calls are sent in one batch. */
export type Clients = {
  readonly loadVouchers: (query: VoucherQuery) => Promise<VoucherResult>;
  readonly listCandidates: (
    query: MessageInitShape<typeof CandidateQuerySchema>,
  ) => Promise<CandidateResult>;
  readonly countRedemptions: (query: CountQuery) => Promise<CountResult>;
  readonly commitRedemption: (command: RedemptionCommand) => Promise<CommitOutcome>;
  readonly reserveVouchers: (command: ReservationCommand) => Promise<ReservationOutcome>;
  readonly commitRollback: (command: RollbackCommand) => Promise<RollbackOutcome>;
  /** Rejects with `not_found`. */
  readonly getRedemption: (redemptionId: string, call: Call) => Promise<Redemption>;
  readonly resolveCustomer: (
    query: MessageInitShape<typeof CustomerQuerySchema>,
  ) => Promise<CustomerResult>;
  readonly listSegments: (
    request: MessageInitShape<typeof ListSegmentsRequestSchema>,
    call: Call,
  ) => Promise<ListSegmentsResponse>;
  readonly listVouchers: (
    request: MessageInitShape<typeof ListVouchersRequestSchema>,
    call: Call,
  ) => Promise<ListVouchersResponse>;
  readonly estimateEarnings: (
    request: MessageInitShape<typeof EstimateEarningsRequestSchema>,
    call: Call,
  ) => Promise<EstimateEarningsResponse>;
  readonly loadCards: (query: CardsQuery) => Promise<CardsResult>;
  readonly holdPoints: (command: HoldPointsCommand) => Promise<HoldPointsOutcome>;
  readonly reservePoints: (command: PointsReservationCommand) => Promise<PointsReservationOutcome>;
  readonly releasePoints: (release: PointsRelease) => Promise<void>;
  readonly resolveRewardAssignment: (
    name: RewardAssignmentQuery,
  ) => Promise<RewardAssignmentResult>;
  /** Releases a points hold whose redemption was not committed. */
  readonly releasePointsHold: (spend: PointsHoldKey) => Promise<void>;
  readonly resolveCampaigns: (
    query: MessageInitShape<typeof CampaignQuerySchema>,
  ) => Promise<CampaignResult>;
  readonly listCampaigns: (
    request: MessageInitShape<typeof ListCampaignsRequestSchema>,
    call: Call,
  ) => Promise<ListCampaignsResponse>;
  readonly resolveCategory: (
    query: MessageInitShape<typeof CategoryQuerySchema>,
  ) => Promise<CategoryResult>;
};

/** Above this many waiting calls, callers are rejected instead of queued. */
const BATCH = { maxBatch: 500, maxWaiting: 20_000 };

export function createClients(
  transports: Transports,
  onBatch: (name: string, size: number) => void,
): Clients {
  // One lane gives larger batches and about 10 % faster commits. With two, a locked voucher blocks
  // one batch and not all redemptions of the process.
  const batched: Batched = (name, send, more = { isBadItem: mayBeOneBadItem }) =>
    createCoalescer({ ...BATCH, ...more, lanes: 2, onBatch: (size) => onBatch(name, size), send });
  return {
    ...redemptionClients(transports.voucher, batched),
    ...campaignClients(transports.campaign, batched),
    ...customerClients(transports.loyalty, batched),
    ...cardClients(transports, batched),
  };
}

function redemptionClients(transport: Transport, batched: Batched) {
  const redemptions = clientOf(RedemptionService, transport);
  const candidates = clientOf(CandidateService, transport);
  const vouchers = clientOf(VoucherService, transport);
  return {
    listVouchers: (request: MessageInitShape<typeof ListVouchersRequestSchema>, call: Call) =>
      vouchers.listVouchers(request, call),
    loadVouchers: batched("load_vouchers", async (queries: readonly VoucherQuery[]) => {
      const request = { $typeName: LoadVouchersRequestSchema.typeName, queries: [...queries] };
      return (await redemptions.loadVouchers(request, serviceCall())).results;
    }),
    listCandidates: batched(
      "list_candidates",
      async (queries: readonly MessageInitShape<typeof CandidateQuerySchema>[]) =>
        (await candidates.listCandidates({ queries: [...queries] }, serviceCall())).results,
    ),
    countRedemptions: batched("count_redemptions", async (queries: readonly CountQuery[]) => {
      const request = { $typeName: CountRedemptionsRequestSchema.typeName, queries: [...queries] };
      return (await redemptions.countRedemptions(request, serviceCall())).results;
    }),
    commitRedemption: batched(
      "commit_redemptions",
      async (commands: readonly RedemptionCommand[]) => {
        const request = {
          $typeName: CommitRedemptionsRequestSchema.typeName,
          commands: [...commands],
        };
        return (await redemptions.commitRedemptions(request, serviceCall())).outcomes;
      },
      WITHOUT_SINGLE_RETRY,
    ),
    reserveVouchers: batched(
      "reserve_vouchers",
      async (commands: readonly ReservationCommand[]) => {
        const request = {
          $typeName: ReserveVouchersRequestSchema.typeName,
          commands: [...commands],
        };
        return (await redemptions.reserveVouchers(request, serviceCall())).outcomes;
      },
      WITHOUT_SINGLE_RETRY,
    ),
    commitRollback: batched(
      "commit_rollbacks",
      async (commands: readonly RollbackCommand[]) => {
        const request = {
          $typeName: CommitRollbacksRequestSchema.typeName,
          commands: [...commands],
        };
        return (await redemptions.commitRollbacks(request, serviceCall())).outcomes;
      },
      WITHOUT_SINGLE_RETRY,
    ),
    getRedemption: (redemptionId: string, call: Call) =>
      redemptions.getRedemption(
        { $typeName: "scrip.voucher.v1.GetRedemptionRequest", redemptionId },
        call,
      ),
  };
}

function campaignClients(transport: Transport, batched: Batched) {
  const campaigns = clientOf(CampaignService, transport);
  const categories = clientOf(CategoryService, transport);
  return {
    resolveCampaigns: batched(
      "resolve_campaigns",
      async (queries: readonly MessageInitShape<typeof CampaignQuerySchema>[]) =>
        (await campaigns.resolveCampaigns({ queries: [...queries] }, serviceCall())).results,
    ),
    resolveCategory: batched(
      "resolve_categories",
      async (queries: readonly MessageInitShape<typeof CategoryQuerySchema>[]) =>
        (await categories.resolveCategories({ queries: [...queries] }, serviceCall())).results,
    ),
    listCampaigns: (request: MessageInitShape<typeof ListCampaignsRequestSchema>, call: Call) =>
      campaigns.listCampaigns(request, call),
  };
}

function customerClients(transport: Transport, batched: Batched) {
  const customers = clientOf(CustomerService, transport);
  const segments = clientOf(SegmentService, transport);
  const earningRules = clientOf(EarningRuleService, transport);
  return {
    estimateEarnings: (
      request: MessageInitShape<typeof EstimateEarningsRequestSchema>,
      call: Call,
    ) => earningRules.estimateEarnings(request, call),
    listSegments: (request: MessageInitShape<typeof ListSegmentsRequestSchema>, call: Call) =>
      segments.listSegments(request, call),
    resolveCustomer: batched(
      "resolve_customers",
      async (queries: readonly MessageInitShape<typeof CustomerQuerySchema>[]) =>
        (await customers.resolveCustomers({ queries: [...queries] }, serviceCall())).results,
    ),
  };
}
