/** The response exceeds the size limit. */
export class ResponseTooLarge extends Error {
  override readonly name = 'ResponseTooLarge';
}

/** Reads the whole body of a response; stops reading and throws once it exceeds `maxBytes`. */
export const readBounded = async (
  response: { readonly body: AsyncIterable<Uint8Array> | null },
  maxBytes: number,
): Promise<Buffer> => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxBytes) {
      throw new ResponseTooLarge(`The response is larger than ${maxBytes} bytes.`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

/** Reads at most the first `maxBytes` of the body of a response. */
export const readBeginning = async (
  response: { readonly body: AsyncIterable<Uint8Array> | null },
  maxBytes: number,
): Promise<Buffer> => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= maxBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes);
};
