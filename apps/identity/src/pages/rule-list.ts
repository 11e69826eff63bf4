import { type Html, html } from '../http/html.ts';
import { MAX_PASSWORD_BYTES } from '../passwords/password-rules.ts';
import { assets } from './assets.ts';
import type { FieldSpec } from './form.ts';
import type { NewPasswordField } from './problems.ts';
import type { Visit } from './visit.ts';

/**
 * Password rules that a script checks while the user types. Without the script the list is hidden, and the hint
 * and the server explain the rules.
 */
const ruleList = ({ texts }: Visit, field: NewPasswordField, minLength: number): Html => {
  const { too_short, met, unmet, allMet, ...others } = texts.ruleList;
  const { uppercase, lowercase, digit, special, match, too_long } = others;
  const rules = {
    too_short: too_short(minLength),
    uppercase,
    lowercase,
    digit,
    special,
    too_long,
    match,
  };
  const items = Object.entries(rules).map(
    ([rule, text]) =>
      html`<li data-rule="${rule}"><span class="unseen"></span><span>${text}</span></li>`,
  );
  return html`<div class="rules" data-field="${field}" data-least="${minLength}" data-most="${MAX_PASSWORD_BYTES}" data-met="${met}" data-unmet="${unmet}" data-all-met="${allMet}" hidden>
<ul>${items}</ul>
<p class="unseen" role="status"></p>
</div>
<script src="${assets.passwordRules.address}" defer></script>`;
};

/** Fields for a new password and its confirmation. */
export const newPasswordFields = (
  visit: Visit,
  minLength: number,
  name: NewPasswordField = 'password',
): readonly FieldSpec[] => {
  const type = { type: 'password', autocomplete: 'new-password' } as const;
  const hint = visit.texts.ruleHint(minLength);
  return [
    { name, ...type, hint, below: ruleList(visit, name, minLength) },
    { name: `${name}_confirmation`, ...type },
  ];
};
