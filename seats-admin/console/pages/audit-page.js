/** The audit: who changed what, when, as differences; and its export. */

import { useState } from 'preact/hooks'
import { ACTION_NAMES, actionText, Entry } from '../differences.js'
import { Choice, Field } from '../fields.js'
import { useFilter } from '../filters.js'
import { readList, refusalOf, useList } from '../loading.js'
import { html } from '../markup.js'
import { counted, Time } from '../pieces.js'
import { Empty, ListEnd, PageHeading, Refusal } from '../states.js'

/** @typedef {import('../answers.d.ts').AuditEntry} AuditEntry */

/** Entries of one export. */
const MAX_EXPORT = 10_000

export function AuditPage() {
  const [filter, setFilter] = useFilter(['actor', 'target', 'action', 'since', 'until'])
  const [draft, setDraft] = useState(filter)
  const query = { ...filter, since: utcOf(filter.since), until: utcOf(filter.until) }
  /** @type {import('../loading.js').Listed<AuditEntry>} */
  const entries = useList('/v1/audit', query, ({ id }) => id)
  const change = (/** @type {Readonly<Record<string, string>>} */ changed) =>
    setDraft({ ...draft, ...changed })
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault()
    setFilter(draft)
  }
  const clear = () => {
    const none = { actor: '', target: '', action: '', since: '', until: '' }
    setDraft(none)
    setFilter(none)
  }
  return html`
    <${PageHeading} title="Audit"><${Export} query=${query} /><//>
    <search>
      <form class="filters" onSubmit=${submit}>
        <${Field}
          label="Who (name or id)"
          type="search"
          value=${draft.actor ?? ''}
          onInput=${(/** @type {string} */ actor) => change({ actor })}
        />
        <${Field}
          label="What (name or id)"
          type="search"
          value=${draft.target ?? ''}
          onInput=${(/** @type {string} */ target) => change({ target })}
        />
        <${Choice}
          label="Action"
          value=${draft.action ?? ''}
          onInput=${(/** @type {string} */ action) => change({ action })}
          options=${[['', 'all'], ...ACTION_NAMES.map((name) => [name, actionText(name)])]}
        />
        <${Field}
          label="Since"
          type="datetime-local"
          value=${draft.since ?? ''}
          onInput=${(/** @type {string} */ since) => change({ since })}
        />
        <${Field}
          label="Before"
          type="datetime-local"
          value=${draft.until ?? ''}
          onInput=${(/** @type {string} */ until) => change({ until })}
        />
        <div class="buttons start">
          <button type="submit" class="button">Filter</button>
          <button type="button" class="button" onClick=${clear}>Clear</button>
        </div>
      </form>
    </search>
    ${entries.items.map((entry) => html`<${Entry} key=${entry.id} entry=${entry} time=${html`<${Time} at=${entry.at} />`} />`)}
    ${!entries.loading && !entries.refusal && entries.items.length === 0 ? html`<${Empty}><p>No change matches.</p><//>` : null}
    <${ListEnd} of=${entries} what="Audit" />
  `
}

/** @param {string | undefined} local of a field, in the reader's zone */
function utcOf(local) {
  if (!local) return ''
  const time = Date.parse(local)
  // Of a link: the gateway refuses it. Without it, the page would show more than it says.
  return Number.isNaN(time) ? local : new Date(time).toISOString()
}

/** @param {{ query: Readonly<Record<string, string>> }} props */
function Export({ query }) {
  const [said, setSaid] = useState('')
  const [busy, setBusy] = useState(false)
  const [refusal, setRefusal] = useState(/** @type {import('../gateway-calls.js').Refused | null} */ (null))
  const run = async () => {
    setBusy(true)
    setRefusal(null)
    setSaid('Reading the audit…')
    try {
      /** @type {{ items: AuditEntry[], hasMore: boolean }} */
      const { items, hasMore } = await readList(
        '/v1/audit',
        query,
        ({ id }) => id,
        (found) => found.length >= MAX_EXPORT,
      )
      save(items.map((entry) => JSON.stringify(entry)).join('\n'))
      setSaid(
        `${counted(items.length, 'entry', 'entries')} saved${hasMore ? ': the newest ones. "seatgate audit export" has all' : ''}.`,
      )
    } catch (cause) {
      setSaid('')
      setRefusal(refusalOf(cause))
    }
    setBusy(false)
  }
  return html`<span class="quiet" role="status">${said}</span>
    <button type="button" class="button" disabled=${busy} onClick=${run}>Export as JSON lines</button>
    ${refusal ? html`<${Refusal} refusal=${refusal} what="Not exported" />` : null}`
}

/** @param {string} text */
function save(text) {
  const url = URL.createObjectURL(new Blob([text, '\n'], { type: 'application/x-ndjson' }))
  const link = document.createElement('a')
  link.href = url
  link.download = `audit-${new Date().toISOString().slice(0, 10)}.jsonl`
  link.click()
  URL.revokeObjectURL(url)
}
