/** Fields of forms: a label, a hint, and what is wrong. */

import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { hasKey } from './credentials.js'
import { html } from './markup.js'
import { counted, Icon, number } from './pieces.js'

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
function notesOf(id, hint, wrong, isAlert) {
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

const KEY_FAULT = 'That was an API key. No field but that of the sign-in takes one: enter its name or id.'

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

/**
 * A set of texts: Enter or a comma adds one, a pasted list adds all, Backspace in the empty field takes the last one out.
 *
 * @param {object} props
 * @param {string} props.label
 * @param {string} props.one what an element is called
 * @param {readonly string[]} props.values
 * @param {(values: string[]) => void} props.onInput
 * @param {string} [props.hint]
 * @param {(text: string) => string | null} [props.check] what is wrong with an element
 * @param {RegExp} [props.separators] between the elements of a pasted list
 * @param {readonly string[]} [props.suggestions]
 */
export function SetField({
  label,
  one,
  values,
  onInput,
  hint,
  check,
  separators = /[\s,]+/,
  suggestions = [],
}) {
  const id = useId()
  const [text, setText] = useState('')
  const [wrong, setWrong] = useState(/** @type {string | null} */ (null))
  const [said, setSaid] = useState('')
  const input = useRef(/** @type {HTMLInputElement | null} */ (null))

  const add = (/** @type {string} */ written) => {
    const before = new Set(values)
    // A name that is known may have a separator in it.
    const parts = (suggestions.includes(written.trim()) ? [written] : written.split(separators))
      .map((each) => each.trim())
      .filter((each) => each !== '' && !before.has(each))
    const isKey = parts.some(hasKey)
    const faulty = parts.filter((each) => check?.(each) && !hasKey(each))
    const good = [...new Set(parts.filter((each) => !check?.(each) && !hasKey(each)))]
    if (before.size + good.length > MAX_ELEMENTS) {
      setWrong(`A list has at most ${number(MAX_ELEMENTS)} elements.`)
      return
    }
    setWrong(isKey ? KEY_FAULT : faultOf(faulty, check))
    // What is wrong stays, to be corrected.
    setText(faulty.join(', '))
    if (good.length === 0) return
    setSaid(good.length === 1 ? `Added ${good[0]}` : `Added ${counted(good.length, one)}`)
    onInput([...values, ...good])
  }
  const remove = (/** @type {string} */ value) => {
    setSaid(`Removed ${value}`)
    onInput(values.filter((each) => each !== value))
    input.current?.focus()
  }
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    if (event.isComposing) return
    const last = values.at(-1)
    if (event.key === 'Enter' && text.trim() !== '') {
      event.preventDefault()
      add(text)
    } else if (event.key === 'Backspace' && text === '' && last !== undefined) {
      event.preventDefault()
      remove(last)
    }
  }
  const typed = (/** @type {InputEvent & { currentTarget: HTMLInputElement }} */ event) => {
    const { value } = event.currentTarget
    // A chosen suggestion is whole; so is what a comma ends.
    const isChosen = event.inputType === 'insertReplacementText' || event.inputType === undefined
    const isBegun = suggestions.some((each) => each.startsWith(value.trimEnd()))
    if ((/,\s*$/.test(value) && !isBegun) || (isChosen && suggestions.includes(value))) add(value)
    else {
      setText(value)
      setWrong(null)
    }
  }
  const pasted = (/** @type {ClipboardEvent} */ event) => {
    const list = event.clipboardData?.getData('text') ?? ''
    if (!separators.test(list.trim())) return
    event.preventDefault()
    add(list)
  }
  // A form is not sent while something is in the field that is not part of the list. At once, as the next key may send it.
  useLayoutEffect(() => {
    input.current?.setCustomValidity(text.trim() === '' ? '' : (wrong ?? ''))
  }, [wrong, text])
  const notes = notesOf(id, hint, wrong, true)
  const left = suggestions.filter((each) => !values.includes(each))
  return html`<div class="field">
    <label for=${id}>${label} <span class="quiet">${counted(values.length, one)}</span></label>
    <div class="plain">
      <ul class="set" aria-label=${`${label}: chosen`}>
        ${values.map(
          (each) =>
            html`<li class="tag" key=${each}>
              <bdi>${each}</bdi>
              <button type="button" aria-label=${`Remove ${each}`} onClick=${() => remove(each)}>
                <${Icon} name="close" />
              </button>
            </li>`,
        )}
      </ul>
      <span class="set-input">
        <input
          ref=${input}
          id=${id}
          value=${text}
          dir="auto"
          list=${`${id}-list`}
          onInput=${typed}
          onPaste=${pasted}
          onKeyDown=${pressed}
          onBlur=${() => text.trim() !== '' && add(text)}
          ...${notes.attributes}
        />
        <button type="button" class="button" onClick=${() => add(text)} aria-label=${`Add to ${label}`}>
          Add
        </button>
      </span>
      <datalist id=${`${id}-list`}>
        ${left.map((each) => html`<option value=${each} key=${each} />`)}
      </datalist>
    </div>
    ${notes.texts}
    <span class="unseen" role="status">${said}</span>
  </div>`
}

/** As many as a Seat may have; more would make the page slow. */
const MAX_ELEMENTS = 10_000

/** @param {readonly string[]} faulty @param {((text: string) => string | null) | undefined} check */
function faultOf([first, ...others], check) {
  if (first === undefined) return null
  const fault = check?.(first) ?? null
  return others.length === 0 ? fault : `${fault}. ${counted(others.length, 'other')} too.`
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
