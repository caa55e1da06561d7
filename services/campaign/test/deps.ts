import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { createPgEventBus } from "@scrip/events";
import { newId } from "@scrip/ids";
import { CampaignJobService } from "@scrip/proto/scrip/campaign/v1/campaign_jobs_pb";
import { CampaignService } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { CategoryService } from "@scrip/proto/scrip/campaign/v1/categories_pb";
import { PromotionService } from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import { ReferralTierService } from "@scrip/proto/scrip/campaign/v1/referral_tiers_pb";
import { TrashBinService } from "@scrip/proto/scrip/campaign/v1/trash_bin_pb";
import { CampaignImportService } from "@scrip/proto/scrip/campaign/v1/voucher_imports_pb";
import { CampaignVoucherService } from "@scrip/proto/scrip/voucher/v1/campaign_vouchers_pb";
import { VoucherService } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { clientOf, createDirectTransport } from "@scrip/rpc";
import { migratedDatabase, testDatabase, type TestDatabase } from "@scrip/testing";
import { createVoucherService } from "@scrip/voucher/service";

import { createClients } from "../src/clients.ts";
import { createDefinitionCaches } from "../src/loading/definition-cache.ts";
import { routes } from "../src/routes.ts";
import { MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";

export type Campaigns = Awaited<ReturnType<typeof startCampaigns>>;

/** The service on a database of its own, with the real voucher service over the in-process transport. */
export async function startCampaigns() {
  await using parts = new AsyncDisposableStack();
  const db = parts.use(await testDatabase({ schema: SCHEMA, role: ROLE, folder: MIGRATIONS }));
  const voucher = parts.use(await startVoucherService());
  const network: Network = { isUp: true, losesResponses: false };
  const transport = throughNetwork(voucher.transport, network);
  const running = parts.move();
  return {
    db,
    ...startProcess(db, transport),
    /** Another process of the service on the same database. */
    replica: () => startProcess(db, transport),
    vouchers: clientOf(VoucherService, voucher.transport),
    campaignVouchers: clientOf(CampaignVoucherService, voucher.transport),
    /** While `isUp` is false, calls of the voucher service fail; they succeed unnoticed if `losesResponses`. */
    network,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

function startProcess(db: TestDatabase, voucher: Transport) {
  const definitions = createDefinitionCaches(db);
  const transport = createDirectTransport(
    routes({
      db,
      newId,
      definitions,
      maxVouchers: 1_000_000,
      onEvents: () => {},
      ...createClients({ voucher }),
    }),
  );
  return {
    campaigns: clientOf(CampaignService, transport),
    promotions: clientOf(PromotionService, transport),
    categories: clientOf(CategoryService, transport),
    referralTiers: clientOf(ReferralTierService, transport),
    imports: clientOf(CampaignImportService, transport),
    jobs: clientOf(CampaignJobService, transport),
    bin: clientOf(TrashBinService, transport),
  };
}

async function startVoucherService() {
  await using parts = new AsyncDisposableStack();
  const { url } = parts.use(await migratedDatabase("voucher", "events"));
  const onError = (): void => {};
  const bus = await createPgEventBus({ url, onError });
  parts.defer(() => bus.close(1_000));
  const service = parts.use(
    await createVoucherService({
      databaseUrl: url,
      poolSize: 5,
      transports: { loyalty: createDirectTransport([]) },
      assetSecret: "test",
      bus,
      onError,
    }),
  );
  const running = parts.move();
  return {
    transport: createDirectTransport(service.implementations),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

type Network = { isUp: boolean; losesResponses: boolean };

const throughNetwork = (transport: Transport, network: Network): Transport => ({
  // oxlint-disable-next-line max-params -- the signature is Connect's
  unary: async (...call) => {
    const response = network.isUp ? await transport.unary(...call) : undefined;
    if (response !== undefined && !network.losesResponses) return response;
    throw new ConnectError("the voucher service is unreachable", Code.Unimplemented);
  },
  stream: (...call) => transport.stream(...call),
});
