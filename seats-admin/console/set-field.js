/** A field of forms for a set of texts. */

import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { hasKey } from './credentials.js'
import { KEY_FAULT, notesOf } from './fields.js'
import { html } from './markup.js'
import { countText, Icon, number } from './pieces.js'

/**
 * @typedef {object} SetOptions
 * @property {string} one what an element is called
 * @property {readonly string[]} values
 * @property {(values: string[]) => void} onInput
 * @property {(text: string) => string | null} [check] what is wrong with an element
 * @property {RegExp} [separators] between the elements of a pasted list
 * @property {readonly string[]} [suggestions]
 */

/**
 * A set of texts: Enter or a comma adds one, a pasted list adds all, Backspace in the empty field takes the
 * last one out.
 *
 * @param {SetOptions & { label: string, hint?: string }} props
 */
export function SetField({ label, hint, ...options }) {
  const id = useId()
  const { values, suggestions = [] } = options
  const { text, wrong, said, input, add, remove, handlers } = useSet(options)
  const notes = notesOf(id, hint, wrong, true)
  const left = suggestions.filter((each) => !values.includes(each))
  return html`<div class="field">
    <label for=${id}>${label} <span class="quiet">${countText(values.length, options.one)}</span></label>
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
          ...${handlers}
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

/** What is typed into a set, and what becomes of it. @param {SetOptions} options */
function useSet({ one, values, onInput, check, separators = /[\s,]+/, suggestions = [] }) {
  const [text, setText] = useState('')
  const [wrong, setWrong] = useState(/** @type {string | null} */ (null))
  const [said, setSaid] = useState('')
  const input = useRef(/** @type {HTMLInputElement | null} */ (null))
  const add = (/** @type {string} */ written) => {
    // A name of the suggestions may have a separator in it.
    const parts = suggestions.includes(written.trim()) ? [written] : written.split(separators)
    const { good, faulty, fault } = sorted(parts, values, check)
    setWrong(fault)
    if (good === null) return
    // What is wrong stays, to be corrected.
    setText(faulty.join(', '))
    if (good.length === 0) return
    setSaid(good.length === 1 ? `Added ${good[0]}` : `Added ${countText(good.length, one)}`)
    onInput([...values, ...good])
  }
  const remove = (/** @type {string} */ value) => {
    setSaid(`Removed ${value}`)
    onInput(values.filter((each) => each !== value))
    input.current?.focus()
  }
  // A form is not sent while something is in the field that is not part of the list. At once, as the next key
  // may send it.
  useLayoutEffect(() => {
    input.current?.setCustomValidity(text.trim() === '' ? '' : (wrong ?? ''))
  }, [wrong, text])
  const handlers = {
    onKeyDown: (/** @type {KeyboardEvent} */ event) => {
      if (event.isComposing) return
      const last = values.at(-1)
      if (event.key === 'Enter' && text.trim() !== '') {
        event.preventDefault()
        add(text)
      } else if (event.key === 'Backspace' && text === '' && last !== undefined) {
        event.preventDefault()
        remove(last)
      }
    },
    onInput: (/** @type {InputEvent & { currentTarget: HTMLInputElement }} */ event) => {
      const { value } = event.currentTarget
      // A chosen suggestion is whole; so is what a comma ends.
      const isChosen = event.inputType === 'insertReplacementText' || event.inputType === undefined
      const isBegun = suggestions.some((each) => each.startsWith(value.trimEnd()))
      if ((/,\s*$/.test(value) && !isBegun) || (isChosen && suggestions.includes(value))) return add(value)
      setText(value)
      setWrong(null)
    },
    onPaste: (/** @type {ClipboardEvent} */ event) => {
      const list = event.clipboardData?.getData('text') ?? ''
      if (!separators.test(list.trim())) return
      event.preventDefault()
      add(list)
    },
    onBlur: () => text.trim() !== '' && add(text),
  }
  return { text, wrong, said, input, add, remove, handlers }
}

/** The number of elements that a Seat may have; more would make the page slow. */
const MAX_ELEMENTS = 10_000

/**
 * Which parts of what was typed become elements, and which are wrong. No API key stays in the field.
 *
 * @param {readonly string[]} parts
 * @param {readonly string[]} values
 * @param {SetOptions['check']} check
 * @returns {{ good: string[] | null, faulty: string[], fault: string | null }} good: null for more than a
 *   list may have
 */
function sorted(parts, values, check) {
  const before = new Set(values)
  const texts = parts.map((each) => each.trim()).filter((each) => each !== '' && !before.has(each))
  const isKey = texts.some(hasKey)
  const faulty = texts.filter((each) => check?.(each) && !hasKey(each))
  const good = [...new Set(texts.filter((each) => !check?.(each) && !hasKey(each)))]
  if (before.size + good.length > MAX_ELEMENTS)
    return { good: null, faulty, fault: `A list has at most ${number(MAX_ELEMENTS)} elements.` }
  return { good, faulty, fault: isKey ? KEY_FAULT : faultOf(faulty, check) }
}

/**
 * @param {readonly string[]} faulty
 * @param {SetOptions['check']} check
 */
function faultOf([first, ...others], check) {
  if (first === undefined) return null
  const fault = check?.(first) ?? null
  return others.length === 0 ? fault : `${fault}. ${countText(others.length, 'other')} too.`
}
