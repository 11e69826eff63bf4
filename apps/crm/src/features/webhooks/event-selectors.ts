import { type CrmEventResource, crmEventResourceNames, crmEventTypes } from '@tessera/contracts';

/** What an endpoint can select: all events, those of a resource, or those of one type. */
export const eventSelectors: readonly string[] = [
  '*',
  ...crmEventResourceNames.map((resource) => `crm.${resource}.*`),
  ...crmEventTypes,
];

/** Whether a selector selects a type of event. The events of a resource are not those of the resources below it. */
export const isSelected = (selectors: readonly string[], type: string): boolean =>
  selectors.includes('*') ||
  selectors.includes(type) ||
  selectors.includes(`${type.slice(0, type.lastIndexOf('.'))}.*`);

/** The resources whose events are selected. */
export const selectedResources = (selectors: readonly string[]): readonly CrmEventResource[] =>
  crmEventResourceNames.filter((resource) =>
    selectors.some((selector) => selector === '*' || selector.startsWith(`crm.${resource}.`)),
  );

/** The types that are selected. */
export const selectedTypes = (selectors: readonly string[]): readonly string[] =>
  crmEventTypes.filter((type) => isSelected(selectors, type));
