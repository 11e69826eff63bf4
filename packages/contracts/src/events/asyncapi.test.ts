import { DiagnosticSeverity, Parser } from '@asyncapi/parser';
import {
  asyncapiDocument,
  crmAsyncapiDocument,
  crmEventResourceNames,
  crmTopicOf,
  eventTypes,
  parseCrmEvent,
  parseEvent,
  platformAsyncapiDocument,
} from '../index.ts';

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

describe("the AsyncAPI document of CRM's events", () => {
  const own = (): Document => structuredClone(crmAsyncapiDocument()) as never;

  test('is valid AsyncAPI 3, alone and together with that of identity', async () => {
    expect(await problemsOf(own())).toEqual([]);
    expect(await problemsOf(platformAsyncapiDocument())).toEqual([]);
  });

  test('has a topic for each resource, and one for its dead letters', () => {
    const topics = crmEventResourceNames.map(crmTopicOf);
    const addresses = Object.values(own().channels).map(({ address }) => address);
    expect(addresses.toSorted()).toEqual(
      topics.flatMap((topic) => [topic, `${topic}.dead-letter`]).toSorted(),
    );
  });

  test('has examples that consumers can parse', () => {
    const { messages } = own().components;
    for (const topic of crmEventResourceNames.map(crmTopicOf)) {
      const [example] = messages[topic]?.examples ?? [];
      expect(parseCrmEvent(topic, JSON.stringify(example?.payload))).toMatchObject({ ok: true });
    }
  });

  test('has events that consumers can parse if later releases add types and values of enums', () => {
    const event = own().components.messages['crm.contacts']?.examples?.[0]?.payload as {
      data?: object;
    };
    const data = { ...event.data, actor: { type: 'agent' } };
    const later = { ...event, type: 'crm.contacts.archived', data };
    expect(parseCrmEvent('crm.contacts', JSON.stringify(later))).toMatchObject({
      ok: true,
      event: { type: 'crm.contacts.archived', data: { actor: { type: 'agent' } } },
    });
    for (const type of ['crm.contacts', 'crm.contacts.', 'crm.contactsx.archived']) {
      expect(parseCrmEvent('crm.contacts', JSON.stringify({ ...later, type })).ok).toBe(false);
    }
  });

  test('refuses an event of another topic, and one whose subject is another record', () => {
    const event = own().components.messages['crm.contacts']?.examples?.[0]?.payload;
    const parsed = (topic: string, change: object) =>
      parseCrmEvent(topic, JSON.stringify({ ...event, ...change }));
    expect(parsed('crm.companies', {}).ok).toBe(false);
    expect(parsed('crm.unknown', {}).ok).toBe(false);
    expect(parsed('crm.contacts', { subject: 'x' })).toEqual({
      ok: false,
      reason: 'subject does not match the data',
    });
  });
});
