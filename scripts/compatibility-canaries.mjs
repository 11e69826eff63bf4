// Changes that the check of compatibility must find, with parts of what it must report, and changes that it must not.
const CRM = 'apps/crm/openapi.json';
const EVENTS = 'apps/crm/asyncapi.json';

const schema = (document, name) => document.components.schemas[name];
const message = (document, name) => document.components.messages[name].payload.properties;
const without = (list, value) => list.filter((item) => item !== value);

export const plantedBreaks = {
  [CRM]: [
    {
      change: (document) => delete document.paths['/api/crm/contacts/{id}'].delete,
      expected: ['DELETE /api/crm/contacts/{id}', 'api-removed-without-deprecation'],
    },
    {
      change: (document) => delete document.paths['/api/crm/companies/{id}'],
      expected: ['GET /api/crm/companies/{id}', 'api-path-removed-without-deprecation'],
    },
    {
      change: (document) => {
        const contact = schema(document, 'Contact');
        delete contact.properties.emails;
        contact.required = without(contact.required, 'emails');
      },
      expected: ['GET /api/crm/contacts/{id}', 'emails', 'response-required-property-removed'],
    },
    {
      change: (document) => {
        schema(document, 'Contact').properties.notes.type = ['integer', 'null'];
      },
      expected: ['GET /api/crm/contacts/{id}', 'notes', 'response-property-type-changed'],
    },
    {
      change: (document) => {
        const input = schema(document, 'CompanyInput');
        input.properties.planted = { type: 'string' };
        input.required = [...(input.required ?? []), 'planted'];
      },
      expected: ['POST /api/crm/companies', 'planted', 'new-required-request-property'],
    },
    {
      change: (document) => delete schema(document, 'CompanyInput').properties.domain,
      expected: ['POST /api/crm/companies', 'domain', 'request-property-removed'],
    },
    {
      change: (document) => {
        const { parameters } = document.paths['/api/crm/contacts'].get;
        const { schema: sort } = parameters.find(({ name }) => name === 'sort');
        sort.enum = without(sort.enum, 'email');
      },
      expected: ['GET /api/crm/contacts', 'email', 'request-parameter-enum-value-removed'],
    },
  ],
  'apps/identity/openapi.json': [
    {
      change: (document) => delete document.paths['/api/user'].get,
      expected: ['GET /api/user', 'removed-without-deprecation'],
    },
  ],
  [EVENTS]: [
    {
      change: (document) => delete document.channels['crm.companies'],
      expected: ['event /crm.companies/crm.companies.updated', 'removed-without-deprecation'],
    },
    {
      change: (document) => {
        const { type } = message(document, 'crm.contacts');
        type.enum = without(type.enum, 'crm.contacts.merged');
      },
      expected: ['event /crm.contacts/crm.contacts.merged', 'removed-without-deprecation'],
    },
    {
      change: (document) => {
        const { data } = message(document, 'crm.contacts');
        delete data.properties.version;
        data.required = without(data.required, 'version');
      },
      expected: ['event /crm.contacts/crm.contacts.updated', 'payload/data/version', 'removed'],
    },
    {
      change: (document) => {
        delete message(document, 'crm.contacts').data.properties.actor.properties.impersonator_id;
      },
      expected: ['event /crm.contacts/', 'impersonator_id', 'response-optional-property-removed'],
    },
  ],
  'packages/contracts/asyncapi.json': [
    {
      change: (document) => {
        message(document, 'identity.policy.updated').data.properties.version.type = 'string';
      },
      expected: ['event /identity.policy.updated', 'payload/data/version', 'type-changed'],
    },
  ],
};

export const plantedExtensions = {
  [CRM]: [
    (document) => {
      document.paths['/api/crm/planted'] = document.paths['/api/crm/contacts'];
    },
    (document) => {
      schema(document, 'Contact').properties.planted = { type: 'string' };
      schema(document, 'Contact').required.push('planted');
    },
    (document) => {
      schema(document, 'CompanyInput').properties.planted = { type: 'string' };
    },
    (document) => {
      const { parameters } = document.paths['/api/crm/contacts'].get;
      parameters.push({ name: 'planted', in: 'query', schema: { type: 'string' } });
      parameters.find(({ name }) => name === 'sort').schema.enum.push('planted');
    },
  ],
  [EVENTS]: [
    (document) => message(document, 'crm.contacts').type.enum.push('crm.contacts.planted'),
    (document) => {
      message(document, 'crm.companies').data.properties.planted = { type: 'string' };
    },
    (document) => {
      message(document, 'crm.contacts').data.properties.actor.properties.type.enum.push('planted');
    },
  ],
};
