/**
 * The body of an answer from somebody else; one that is larger than `maxBytes` is not read to its end and
 * throws.
 */
export const readBounded = async (answer: Response, maxBytes: number): Promise<Buffer> => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body ?? []) {
    size += chunk.length;
    if (size > maxBytes) throw new Error(`The answer is larger than ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};
