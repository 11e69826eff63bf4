import { DiagnosticSeverity, Parser } from '@asyncapi/parser';
import { asyncapiDocument, eventTypes, parseEvent } from '../index.ts';

interface Document {
  channels: Record<string, { address: string }>;
  components: { messages: Record<string, { examples?: { payload: { type: string } }[] }> };
}

const parser = new Parser();
const problemsOf = async (document: unknown): Promise<string[]> => {
  const diagnostics = await parser.validate(JSON.stringify(document));
  return diagnostics
    .filter(({ severity }) => severity <= DiagnosticSeverity.Warning)
    .map(({ message, path }) => `${path.join('.')}: ${message}`);
};

const document = (): Document => structuredClone(asyncapiDocument()) as Document;

describe('the AsyncAPI document', () => {
  test('is valid AsyncAPI 3', async () => {
    expect(await problemsOf(document())).toEqual([]);
  });

  test('is invalid with a planted mistake', async () => {
    const broken = document();
    Object.assign(broken.channels['identity.user.updated'] ?? {}, { address: 7 });
    expect(await problemsOf(broken)).not.toEqual([]);
  });

  test('has a topic named after each kind, and one for its dead letters', () => {
    const addresses = Object.values(document().channels).map(({ address }) => address);
    expect(addresses.toSorted()).toEqual(
      eventTypes.flatMap((type) => [type, `${type}.dead-letter`]).toSorted(),
    );
  });

  test('has examples that consumers can parse', () => {
    const { messages } = document().components;
    for (const type of eventTypes) {
      const [example] = messages[type]?.examples ?? [];
      expect(parseEvent(type, JSON.stringify(example?.payload))).toMatchObject({ ok: true });
    }
  });
});
