import type { components } from "./api.js";

export type Schemas = components["schemas"];

/** Returns the data of a response; errors of the server end the program. */
export function expect<Data>(answer: { data?: Data; error?: Schemas["ProblemDetails"]; response: Response }): Data {
  if (!answer.response.ok) {
    throw new Error(`${answer.error?.code}: ${answer.error?.detail}`);
  }
  return answer.data as Data;
}

/** Returns the fields of a form with files. */
export function formData(fields: object): FormData {
  const data = new FormData();
  Object.entries(fields).forEach(([name, value]) => data.append(name, value instanceof Blob ? value : String(value)));
  return data;
}
