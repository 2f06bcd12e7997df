// The life of a submission with the generated types: node dist/submit.js SERVER TOKEN CHALLENGE COMPETITION ARCHIVE

import { randomUUID } from "node:crypto";
import { openAsBlob } from "node:fs";
import createClient from "openapi-fetch";
import { expect, formData, type Schemas } from "./answers.js";
import type { paths } from "./api.js";

const [server, token, slug, competition, archive] = process.argv.slice(2);
if (!server || !token || !slug || !competition || !archive) {
  throw new Error("Give a server, a token, a challenge, a competition and an archive.");
}
const visitor = createClient<paths>({ baseUrl: server });
const client = createClient<paths>({ baseUrl: server, headers: { Authorization: `Bearer ${token}` } });

const challenge = expect(await visitor.GET("/api/v1/challenges/{slug}", { params: { path: { slug } } }));
console.log(`${challenge.title}: ${challenge.phase}`);

// A resumable upload: a part that is interrupted is sent again from `received_bytes` on.
const content = await openAsBlob(archive);
const upload = expect(
  await client.POST("/api/v1/uploads", {
    params: { query: { challenge: slug }, header: { "Upload-Length": content.size } },
  }),
);
const uploadPath = { upload_id: upload.id };
expect(
  await client.PATCH("/api/v1/uploads/{upload_id}", {
    params: { path: uploadPath, header: { "Upload-Offset": upload.received_bytes } },
    headers: { "Content-Type": "application/offset+octet-stream" },
    body: "", // files have the type `string` in OpenAPI; the bytes are:
    bodySerializer: () => content.slice(upload.received_bytes),
  }),
);
const report = expect(await client.POST("/api/v1/uploads/{upload_id}/check", { params: { path: uploadPath } }));
console.log(`checked: ${Object.keys(report.competitions).join(", ")}`);

const submission = expect(
  await client.POST("/api/v1/challenges/{slug}/submissions", {
    params: { path: { slug }, query: { upload: upload.id }, header: { "Idempotency-Key": randomUUID() } },
    body: { method_name: "From TypeScript" },
    bodySerializer: formData,
  }),
);
const path = { submission_id: submission.id };

// The stream ends with the final state.
const events = expect(
  await client.GET("/api/v1/submissions/{submission_id}/events", { params: { path }, parseAs: "stream" }),
);
let rest = "";
for await (const text of events!.pipeThrough(new TextDecoderStream())) {
  const lines = (rest + text).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines.filter((line) => line.startsWith("data: "))) {
    const event = JSON.parse(line.slice("data: ".length)) as Schemas["SubmissionEvent"];
    console.log(event.state);
  }
}

const ofCompetition = { submission_id: submission.id, competition };
const scores = expect(
  await client.GET("/api/v1/submissions/{submission_id}/scores/{competition}", { params: { path: ofCompetition } }),
);
console.log(`${scores.metric}: ${scores.mean}`);
const table = expect(
  await client.GET("/api/v1/submissions/{submission_id}/scores/{competition}.csv", {
    params: { path: ofCompetition },
    parseAs: "text",
  }),
);
process.stdout.write(table);
expect(await client.POST("/api/v1/submissions/{submission_id}/publish", { params: { path } }));

const boardPath = { slug, competition };
const board = expect(
  await visitor.GET("/api/v1/challenges/{slug}/leaderboards/{competition}", { params: { path: boardPath } }),
);
for (const row of board.rows) {
  console.log(row.rank, row.method, row.mean);
}
const exported = expect(
  await visitor.GET("/api/v1/challenges/{slug}/leaderboards/{competition}.csv", {
    params: { path: boardPath },
    parseAs: "text",
  }),
);
process.stdout.write(exported);

// What the server stores about the user.
const stored = expect(await client.GET("/api/v1/account/export"));
for (const [table, rows] of Object.entries(stored)) {
  console.log(`${table}: ${rows.length}`);
}
