import { createRegistry } from "@bufbuild/protobuf";
import { file_scrip_events_v1_campaigns } from "@scrip/proto/scrip/events/v1/campaigns_pb";
import { file_scrip_events_v1_customers } from "@scrip/proto/scrip/events/v1/customers_pb";
import { file_scrip_events_v1_loyalty_programs } from "@scrip/proto/scrip/events/v1/loyalty_programs_pb";
import { file_scrip_events_v1_loyalty_tiers } from "@scrip/proto/scrip/events/v1/loyalty_tiers_pb";
import { file_scrip_events_v1_orders } from "@scrip/proto/scrip/events/v1/orders_pb";
import { file_scrip_events_v1_points } from "@scrip/proto/scrip/events/v1/points_pb";
import { file_scrip_events_v1_projects } from "@scrip/proto/scrip/events/v1/projects_pb";
import { file_scrip_events_v1_redemptions } from "@scrip/proto/scrip/events/v1/redemptions_pb";
import { file_scrip_events_v1_referrals } from "@scrip/proto/scrip/events/v1/referrals_pb";
import { file_scrip_events_v1_resources } from "@scrip/proto/scrip/events/v1/resources_pb";
import { file_scrip_events_v1_vouchers } from "@scrip/proto/scrip/events/v1/vouchers_pb";

/** The messages of all events. */
export const eventMessages = createRegistry(
  file_scrip_events_v1_campaigns,
  file_scrip_events_v1_customers,
  file_scrip_events_v1_loyalty_programs,
  file_scrip_events_v1_loyalty_tiers,
  file_scrip_events_v1_orders,
  file_scrip_events_v1_points,
  file_scrip_events_v1_projects,
  file_scrip_events_v1_redemptions,
  file_scrip_events_v1_referrals,
  file_scrip_events_v1_resources,
  file_scrip_events_v1_vouchers,
);
