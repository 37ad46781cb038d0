/**
 * Modal dialogs: Escape closes them, and the focus returns to where it was. While a change is under way, its
 * dialog stays open, as it shows the answer.
 */

import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { html } from './markup.js'
import { Icon } from './pieces.js'

/**
 * @param {object} props
 * @param {string} props.title
 * @param {() => void} props.onClose Escape, or the button at the top
 * @param {boolean} [props.busy] a change is under way
 * @param {boolean} [props.wide]
 * @param {any} [props.children]
 */
export function Dialog({ title, onClose, busy = false, wide = false, children }) {
  const element = useRef(/** @type {HTMLDialogElement | null} */ (null))
  const id = useId()
  // Not after the next paint: the next key belongs to what has the focus then.
  useLayoutEffect(() => {
    const { current: dialog } = element
    const before = document.activeElement
    dialog?.showModal()
    return () => {
      dialog?.close()
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  const leave = () => {
    if (!busy) onClose()
  }
  const cancelled = (/** @type {Event} */ event) => {
    event.preventDefault()
    leave()
  }
  // Chromium prevents Escape once: the next one closes the element without a question.
  const closed = (/** @type {Event & { currentTarget: HTMLDialogElement }} */ { currentTarget: dialog }) => {
    if (!dialog.isConnected) return
    dialog.showModal()
    leave()
  }
  return html`<dialog
    ref=${element}
    class=${wide ? 'wide' : ''}
    aria-labelledby=${id}
    closedby=${busy ? 'none' : undefined}
    onCancel=${cancelled}
    onClose=${closed}
  >
    <div class="dialog-head">
      <h2 id=${id}><bdi>${title}</bdi></h2>
      <button type="button" class="icon-button" aria-label="Close" disabled=${busy} onClick=${leave}>
        <${Icon} name="close" />
      </button>
    </div>
    <div class="dialog-body">${children}</div>
  </dialog>`
}

/**
 * The buttons of a dialog: one leaves it, the other one makes the change.
 *
 * @param {object} props
 * @param {boolean} props.busy a change is under way
 * @param {() => void} props.onClose
 * @param {() => void} [props.onRun] absent: the button submits the form
 * @param {string} props.text
 * @param {string} props.busyText
 * @param {'primary' | 'danger'} [props.kind]
 * @param {boolean} [props.disabled]
 * @param {string} [props.leave]
 */
export function DialogButtons({
  busy,
  onClose,
  onRun,
  text,
  busyText,
  kind = 'primary',
  disabled = false,
  leave = 'Cancel',
}) {
  const isForm = onRun === undefined
  return html`<div class="buttons">
    <button type="button" class="button" autofocus=${!isForm} disabled=${busy} onClick=${onClose}>
      ${leave}
    </button>
    <button
      type=${isForm ? 'submit' : 'button'}
      class=${`button ${kind}`}
      disabled=${busy || disabled}
      onClick=${onRun}
    >
      ${busy ? busyText : text}
    </button>
  </div>`
}
