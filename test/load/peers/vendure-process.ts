import "reflect-metadata";
import {
  bootstrap,
  DefaultLogger,
  dummyPaymentHandler,
  LanguageCode,
  LogLevel,
} from "@vendure/core";
import { populateInitialData } from "@vendure/core/cli/index.js";

import { ADMIN, PAYMENT_METHOD } from "./vendure-shop.ts";

const app = await bootstrap({
  apiOptions: {
    hostname: "127.0.0.1",
    port: Number(process.env["PORT"]),
    adminApiPath: "admin-api",
    shopApiPath: "shop-api",
    cors: false,
  },
  authOptions: { tokenMethod: "bearer", superadminCredentials: ADMIN },
  dbConnectionOptions: {
    type: "postgres",
    url: String(process.env["DATABASE_URL"]),
    synchronize: true,
  },
  paymentOptions: { paymentMethodHandlers: [dummyPaymentHandler] },
  logger: new DefaultLogger({ level: LogLevel.Error }),
});
await populateInitialData(app, {
  defaultLanguage: LanguageCode.en,
  defaultZone: "Europe",
  countries: [{ name: "Austria", code: "AT", zone: "Europe" }],
  taxRates: [{ name: "None", percentage: 0 }],
  shippingMethods: [{ name: "Free", price: 0 }],
  paymentMethods: [
    {
      name: PAYMENT_METHOD,
      handler: {
        code: dummyPaymentHandler.code,
        arguments: [{ name: "automaticSettle", value: "true" }],
      },
    },
  ],
  collections: [],
});

process.on("disconnect", () => void app.close().finally(() => process.exit()));
process.send?.({});
