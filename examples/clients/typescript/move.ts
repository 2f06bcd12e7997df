// A challenge moves to another server: node dist/move.js SERVER TOKEN CHALLENGE OTHER_SERVER OTHER_TOKEN

import { randomUUID } from "node:crypto";
import createClient from "openapi-fetch";
import { expect, formData } from "./answers.js";
import type { paths } from "./api.js";

const [server, token, slug, otherServer, otherToken] = process.argv.slice(2);
if (!server || !token || !slug || !otherServer || !otherToken) {
  throw new Error("Give a server, a token, a challenge, the other server and a token of it.");
}
const client = createClient<paths>({ baseUrl: server, headers: { Authorization: `Bearer ${token}` } });
const other = createClient<paths>({ baseUrl: otherServer, headers: { Authorization: `Bearer ${otherToken}` } });

const archive = expect(
  await client.POST("/api/v1/challenges/{slug}/export", { params: { path: { slug } }, parseAs: "blob" }),
);
const moved = expect(
  await other.POST("/api/v1/challenges/imports", {
    params: { header: { "Idempotency-Key": randomUUID() } },
    body: { archive: "" }, // files have the type `string` in OpenAPI; the bytes are:
    bodySerializer: () => formData({ archive }),
  }),
);
console.log(`${moved.title}: ${moved.phase}`);
for (const one of moved.competitions) {
  const board = expect(
    await other.GET("/api/v1/challenges/{slug}/leaderboards/{competition}.csv", {
      params: { path: { slug: moved.slug, competition: one.key } },
      parseAs: "text",
    }),
  );
  process.stdout.write(board);
}
