/** Fields of forms: a label, a hint, and what is wrong. */

import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { hasKey } from './credentials.js'
import { html } from './markup.js'

/**
 * @param {object} props
 * @param {string} props.label
 * @param {string} [props.value] left out: the field alone keeps it
 * @param {(value: string) => void} [props.onInput]
 * @param {string} [props.hint]
 * @param {string | null} [props.fault]
 * @param {'text' | 'password' | 'search' | 'datetime-local'} [props.type]
 * @param {boolean} [props.required]
 * @param {boolean} [props.focus] takes the focus when it appears
 * @param {string} [props.name]
 * @param {readonly string[]} [props.suggestions]
 */
export function Field({
  label,
  value,
  onInput,
  hint,
  fault,
  type = 'text',
  required,
  focus,
  name,
  suggestions,
}) {
  const id = useId()
  const input = useRef(/** @type {HTMLInputElement | null} */ (null))
  const [wasKey, setWasKey] = useState(false)
  // Not after the next paint: the user may have begun another field by then.
  useLayoutEffect(() => {
    if (focus) input.current?.focus()
  }, [])
  const typed = (
    /** @type {InputEvent & { currentTarget: HTMLInputElement }} */ { currentTarget: field },
  ) => {
    const isKey = type !== 'password' && hasKey(field.value)
    setWasKey(isKey)
    if (isKey) field.value = ''
    onInput?.(field.value)
  }
  const notes = notesOf(id, hint, wasKey ? KEY_FAULT : fault, wasKey)
  return html`<div class="field">
    <label for=${id}>${label}</label>
    <input
      ref=${input}
      id=${id}
      name=${name}
      type=${type}
      value=${value}
      dir=${type === 'text' || type === 'search' ? 'auto' : undefined}
      required=${required}
      autofocus=${focus}
      list=${suggestions ? `${id}-list` : undefined}
      max=${type === 'datetime-local' ? LAST : undefined}
      step=${type === 'datetime-local' ? 'any' : undefined}
      onInput=${typed}
      ...${notes.attributes}
    />
    ${suggestions && html`<datalist id=${`${id}-list`}>${suggestions.map((each) => html`<option value=${each} key=${each} />`)}</datalist>`}
    ${notes.texts}
  </div>`
}

/**
 * What is said below a field, and the attributes of a field of text by which it is known there.
 *
 * @param {string} id
 * @param {string | undefined} hint
 * @param {string | null | undefined} wrong
 * @param {boolean} isAlert
 */
export function notesOf(id, hint, wrong, isAlert) {
  const ids = [hint ? `${id}-hint` : '', wrong ? `${id}-fault` : ''].filter(Boolean).join(' ')
  return {
    attributes: {
      autocomplete: 'off',
      autocapitalize: 'none',
      spellcheck: false,
      'aria-invalid': wrong ? 'true' : undefined,
      'aria-describedby': ids || undefined,
    },
    texts: html`${hint && html`<p class="hint" id=${`${id}-hint`}>${hint}</p>`}
    ${wrong && html`<p class="fault" role=${isAlert ? 'alert' : undefined} id=${`${id}-fault`}>${wrong}</p>`}`,
  }
}

/** RFC 3339 has no later years, and a year of more digits would be no time. */
const LAST = '9999-12-31T23:59'

export const KEY_FAULT =
  'That was an API key. No field but that of the sign-in takes one: enter its name or id.'

/**
 * @param {object} props
 * @param {string} props.label
 * @param {string} props.value
 * @param {(value: string) => void} props.onInput
 * @param {readonly (readonly [string, string])[]} props.options value and text
 */
export function Choice({ label, value, onInput, options }) {
  const id = useId()
  return html`<div class="field">
    <label for=${id}>${label}</label>
    <select
      id=${id}
      value=${value}
      onChange=${(/** @type {Event & { currentTarget: HTMLSelectElement }} */ event) => onInput(event.currentTarget.value)}
    >
      ${options.map(([each, text]) => html`<option value=${each} key=${each} selected=${each === value}>${text}</option>`)}
    </select>
  </div>`
}

const SPACE = /^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$/
const PERMISSION = /^(?:\*|[A-Za-z0-9._-]+:[A-Za-z0-9._-]+)$/

/** An empty field may mean something else, or is required. @param {string} text */
export function spaceFault(text) {
  if (text === '' || SPACE.test(text)) return null
  return `${text}: a space is 1 to 128 letters, digits and . _ ~ -, and begins with a letter or digit`
}

/** @param {string} text */
export function permissionFault(text) {
  if (PERMISSION.test(text)) return null
  return `${text}: a permission is resource:operation, such as trainings:read, or * for all`
}
