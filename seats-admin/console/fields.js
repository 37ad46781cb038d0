/** Fields of forms: a label, a hint, and what is wrong. */

import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { html } from './markup.js'
import { counted, Icon } from './pieces.js'

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
  useEffect(() => {
    if (focus) input.current?.focus()
  }, [])
  const notes = [hint ? `${id}-hint` : '', fault ? `${id}-fault` : ''].filter(Boolean).join(' ')
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
      autocomplete="off"
      autocapitalize="none"
      spellcheck=${false}
      list=${suggestions ? `${id}-list` : undefined}
      aria-invalid=${fault ? 'true' : undefined}
      aria-describedby=${notes || undefined}
      onInput=${(/** @type {InputEvent & { currentTarget: HTMLInputElement }} */ event) => onInput?.(event.currentTarget.value)}
    />
    ${suggestions ? html`<datalist id=${`${id}-list`}>${suggestions.map((each) => html`<option value=${each} key=${each} />`)}</datalist>` : null}
    ${hint ? html`<p class="hint" id=${`${id}-hint`}>${hint}</p>` : null}
    ${fault ? html`<p class="fault" id=${`${id}-fault`}>${fault}</p>` : null}
  </div>`
}

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
 * @param {readonly string[]} props.values
 * @param {(values: string[]) => void} props.onInput
 * @param {string} [props.hint]
 * @param {string | null} [props.fault]
 * @param {(text: string) => string | null} [props.check] what is wrong with an element
 * @param {RegExp} [props.separators] between the elements of a pasted list
 * @param {readonly string[]} [props.suggestions]
 */
export function SetField({
  label,
  values,
  onInput,
  hint,
  fault,
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
    const parts = written
      .split(separators)
      .map((each) => each.trim())
      .filter((each) => each !== '' && !values.includes(each))
    const faulty = parts.find((each) => check?.(each))
    setWrong(faulty === undefined ? null : (check?.(faulty) ?? null))
    const good = [...new Set(parts.filter((each) => !check?.(each)))]
    setText(faulty ?? '')
    if (good.length === 0) return
    setSaid(good.length === 1 ? `Added ${good[0]}` : `Added ${counted(good.length, 'element')}`)
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
    if (/,\s*$/.test(value) || (isChosen && suggestions.includes(value))) add(value)
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
  const notes = [hint ? `${id}-hint` : '', (wrong ?? fault) ? `${id}-fault` : ''].filter(Boolean).join(' ')
  const left = suggestions.filter((each) => !values.includes(each))
  return html`<div class="field">
    <label for=${id}>${label} <span class="quiet">${counted(values.length, 'element')}</span></label>
    <div class="set-box">
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
          autocomplete="off"
          autocapitalize="none"
          spellcheck=${false}
          list=${`${id}-list`}
          aria-invalid=${(wrong ?? fault) ? 'true' : undefined}
          aria-describedby=${notes || undefined}
          onInput=${typed}
          onPaste=${pasted}
          onKeyDown=${pressed}
          onBlur=${() => text.trim() !== '' && add(text)}
        />
        <button type="button" class="button" onClick=${() => add(text)} aria-label=${`Add to ${label}`}>
          Add
        </button>
      </span>
      <datalist id=${`${id}-list`}>
        ${left.map((each) => html`<option value=${each} key=${each} />`)}
      </datalist>
    </div>
    ${hint ? html`<p class="hint" id=${`${id}-hint`}>${hint}</p>` : null}
    ${(wrong ?? fault) ? html`<p class="fault" role="alert" id=${`${id}-fault`}>${wrong ?? fault}</p>` : null}
    <span class="unseen" role="status">${said}</span>
  </div>`
}

const SPACE = /^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$/
const PERMISSION = /^(?:\*|[A-Za-z0-9._-]+:[A-Za-z0-9._-]+)$/

/** @param {string} text */
export function spaceFault(text) {
  if (SPACE.test(text)) return null
  return `${text}: a space is 1 to 128 letters, digits and . _ ~ -, and begins with a letter or digit`
}

/** @param {string} text */
export function permissionFault(text) {
  if (PERMISSION.test(text)) return null
  return `${text}: a permission is resource:operation, such as trainings:read, or * for all`
}
