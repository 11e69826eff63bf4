import { languages, textsOf } from '../pages/texts/texts.ts';
import { ACTIVITY_KINDS, actionOf, actions, actionsOfKind } from './actions.ts';

describe('the actions of the activity log', () => {
  test.each(languages)('have texts in $name', ({ language }) => {
    const words: Readonly<Record<string, string>> = textsOf(language).account.actions;
    expect(Object.keys(words).sort()).toEqual(Object.keys(actions).sort());
    expect(new Set(Object.values(words)).size).toBe(Object.keys(actions).length);
    expect(Object.values(words)).not.toContain('');
  });

  test('each belong to one category', () => {
    const all = ACTIVITY_KINDS.flatMap(actionsOfKind);
    expect(all.sort()).toEqual(Object.keys(actions).sort());
  });

  test('do not include names of inherited object properties', () => {
    expect([actionOf('constructor'), actionOf('nothing')]).toEqual([null, null]);
  });
});
