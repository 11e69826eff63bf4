import { type Content, type Html, html } from '../http/html.ts';
import type { Texts } from './texts/texts.ts';
import type { Visit } from './visit.ts';

/** Field names, the same as in JSON. */
export type FieldName = keyof Texts['labels'];

/** The submitted values of a form and their errors. */
export interface FormState {
  readonly values: Readonly<Record<string, string | undefined>>;
  /** Errors by field, in the visitor's language. */
  readonly errors: Readonly<Partial<Record<FieldName, readonly string[]>>>;
  /** An error about the form as a whole. */
  readonly alert?: string | undefined;
  /** The link that opened this page is invalid, so trying again is pointless. */
  readonly isLinkInvalid?: boolean;
}

/** Options of a select element, optionally under a heading. */
export interface ChoiceGroup {
  readonly heading?: string;
  readonly choices: readonly (readonly [value: string, name: string])[];
}

export const emptyForm: FormState = { values: {}, errors: {} };

/** Declaration of a form field. */
export interface FieldSpec {
  readonly name: FieldName;
  readonly type?: 'text' | 'email' | 'password' | 'tel' | 'file';
  /** Replaces the default label. */
  readonly label?: string;
  readonly isOptional?: boolean;
  /** Accepted media types of a file field. */
  readonly accept?: readonly string[];
  /** Options; the field becomes a select element. */
  readonly choices?: readonly ChoiceGroup[];
  /** WHATWG HTML section 4.10.18.7, for password managers and accessibility. */
  readonly autocomplete: string;
  readonly inputmode?: 'numeric' | 'email';
  readonly hint?: string | undefined;
  readonly maxlength?: number;
  /** Initial value. */
  readonly value?: string | undefined;
  /** Content below the field. */
  readonly below?: Content;
}

const describedBy = (ids: readonly (string | false | undefined)[]): Content => {
  const known = ids.filter(Boolean).join(' ');
  return known !== '' && html` aria-describedby="${known}"`;
};

const options = ({ choices }: ChoiceGroup, chosen: string | undefined): Html[] =>
  choices.map(
    ([value, name]) =>
      html`<option value="${value}"${value === chosen && html` selected`}>${name}</option>`,
  );

const select = (groups: readonly ChoiceGroup[], attributes: Html, chosen: string | undefined) =>
  html`<select ${attributes}>${groups.map((group) =>
    group.heading === undefined
      ? options(group, chosen)
      : html`<optgroup label="${group.heading}">${options(group, chosen)}</optgroup>`,
  )}</select>`;

const input = (
  { type = 'text', inputmode, maxlength = 1000, accept }: FieldSpec,
  attributes: Html,
  value: string | undefined,
): Html =>
  html`<input type="${type}" ${attributes}${type !== 'file' && html` maxlength="${maxlength}"`}${
    inputmode !== undefined && html` inputmode="${inputmode}"`
  }${type === 'email' && html` autocapitalize="none" spellcheck="false"`}${
    accept !== undefined && html` accept="${accept.join(',')}"`
  }${value !== undefined && html` value="${value}"`}>`;

const field = (visit: Visit, form: FormState, spec: FieldSpec, hasFocus: boolean): Html => {
  const {
    name,
    type = 'text',
    autocomplete,
    hint,
    choices,
    label,
    isOptional = false,
    below,
  } = spec;
  const errors = form.errors[name] ?? [];
  const isWrong = errors.length > 0;
  // An error replaces the hint.
  const isHinted = hint !== undefined && !isWrong;
  // Secrets are never sent back to the browser.
  const isHidden = type === 'password';
  const isSecret = isHidden || type === 'file' || name === 'code';
  const value = isSecret ? undefined : (form.values[name] ?? spec.value);
  const attributes = html`id="${name}" name="${name}" autocomplete="${autocomplete}"${
    !isOptional && html` required`
  }${isWrong && html` aria-invalid="true"`}${describedBy([
    isWrong && `${name}-error`,
    isHinted && `${name}-hint`,
  ])}${hasFocus && html` autofocus`}`;
  return html`<div class="field">
<label for="${name}">${label ?? visit.texts.labels[name]}</label>
<div class="entry"${isHidden && html` data-show="${visit.texts.show}" data-hide="${visit.texts.hide}"`}>
${choices === undefined ? input(spec, attributes, value) : select(choices, attributes, value)}
</div>
${isWrong && html`<ul class="error" id="${name}-error">${errors.map((error) => html`<li>${error}</li>`)}</ul>`}
${isHinted && html`<p class="hint" id="${name}-hint">${hint}</p>`}
${below}
</div>`;
};

/** Hidden field that tells password managers which account the password belongs to. */
export const accountName = (email: string | null): Content =>
  email !== null &&
  html`<input type="email" class="unseen" name="username" autocomplete="username" value="${email}" tabindex="-1" aria-hidden="true" readonly>`;

/**
 * Renders the fields of a form. The first invalid field, or else the first empty one, gets the focus. With
 * `wrong`, only an invalid one does, for pages with text to read first.
 */
export const fields = (
  visit: Visit,
  form: FormState,
  specs: readonly FieldSpec[],
  focused: 'wrong' | 'wrong or empty' = 'wrong or empty',
): Html => {
  const isFilled = ({ name, type, value, isOptional = false }: FieldSpec): boolean =>
    isOptional || (type !== 'password' && (form.values[name] ?? value ?? '') !== '');
  const focus =
    specs.find(({ name }) => form.errors[name] !== undefined) ??
    (focused === 'wrong' ? undefined : specs.find((spec) => !isFilled(spec)));
  return html`${specs.map((spec) => field(visit, form, spec, spec === focus))}`;
};

/** The field for the account's password, to confirm an action. */
export const passwordConfirmation = (
  visit: Visit,
  form: FormState,
  email: string | null,
): Content => [
  accountName(email),
  fields(visit, form, [{ name: 'password', type: 'password', autocomplete: 'current-password' }]),
];

export const checkbox = (form: FormState, name: string, label: string): Html => {
  const errors: readonly string[] =
    (form.errors as Readonly<Record<string, readonly string[] | undefined>>)[name] ?? [];
  const isWrong = errors.length > 0;
  return html`<label class="choice"><input type="checkbox" name="${name}" value="true"${
    form.values[name] === 'true' && html` checked`
  }${isWrong && html` aria-invalid="true" aria-describedby="${name}-error" autofocus`}> <span>${label}</span></label>
${isWrong && html`<ul class="error" id="${name}-error">${errors.map((error) => html`<li>${error}</li>`)}</ul>`}`;
};

/** A notice of what has happened, or the error about the form as a whole. */
export const message = ({ texts, query, user }: Visit, form: FormState): Content => {
  if (form.alert !== undefined) {
    return html`<div class="notice wrong" role="alert">${form.alert}</div>`;
  }
  const notices: Readonly<Record<string, string>> = {
    ...texts.notices,
    ...(user !== null && texts.signedInNotices),
  };
  const notice = query.notice ?? '';
  return (
    Object.hasOwn(notices, notice) &&
    html`<div class="notice" role="status">${notices[notice]}</div>`
  );
};

interface FormOptions {
  /** Default: the page itself. */
  readonly action?: string;
  readonly submit: string;
  /** The button is not the page's primary action. */
  readonly isPlain?: boolean;
  /** The action cannot be undone. */
  readonly isDangerous?: boolean;
  readonly content?: Content;
  /** Name and value sent by the button. */
  readonly decision?: readonly [name: string, value: string];
  /** Whether the page renders the notice or error itself. */
  readonly isMessageElsewhere?: boolean;
  /** Whether the form uploads a file. */
  readonly isUpload?: boolean;
  /** Content next to the button. */
  readonly beside?: Content;
}

/** The page's own URL with its query; a chosen language is kept in a cookie instead. */
const sameAddress = ({ query }: Visit): string => {
  const { notice: _, ui_locales: __, ...rest } = query;
  return `?${new URLSearchParams(rest)}`;
};

/** Id of a page's form, so that buttons outside it can submit it. */
export const FORM_ID = 'form';

/** The main form of a page. A page has at most one; other buttons have their own forms. */
export const formOf = (visit: Visit, state: FormState, options: FormOptions): Html => {
  const {
    action = sameAddress(visit),
    submit,
    isPlain = false,
    isUpload = false,
    isDangerous = false,
    isMessageElsewhere = false,
    content,
    decision,
    beside,
  } = options;
  return html`${!isMessageElsewhere && message(visit, state)}
<form id="${FORM_ID}" method="post" action="${action}"${isUpload && html` enctype="multipart/form-data"`}${visit.isDownload && html` data-download`} novalidate>
<input type="hidden" name="form_token" value="${visit.formToken}">
${content}
<div class="actions"><button type="submit"${isPlain && html` class="plain"`}${isDangerous && html` class="danger"`}${
    decision !== undefined && html` name="${decision[0]}" value="${decision[1]}"`
  }>${submit}</button>${beside}</div>
</form>`;
};

/** A link below a form, optionally preceded by a question. */
export const link = (address: string, text: string, question?: string): Html =>
  html`<p class="below">${question !== undefined && html`${question} `}<a href="${address}">${text}</a></p>`;

export const signOutForm = (visit: Visit): Html => html`<form method="post" action="/sign-out">
<input type="hidden" name="form_token" value="${visit.tokens.user}">
<button type="submit" class="plain">${visit.texts.signOutNow}</button>
</form>`;
