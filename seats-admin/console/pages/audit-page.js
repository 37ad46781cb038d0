/** The audit: who changed what, when, as differences; and its export. */

import { useState } from 'preact/hooks'
import { ACTION_NAMES, actionText, Entry } from '../differences.js'
import { Choice } from '../fields.js'
import { FilterField, TimeField, useFilterForm } from '../filters.js'
import { readList, useAction, useList } from '../loading.js'
import { html } from '../markup.js'
import { countText } from '../pieces.js'
import { save } from '../save.js'
import { Empty, ListEnd, PageHeading, Refusal } from '../states.js'

/** Entries of one export. */
const MAX_EXPORT = 10_000

const NONE = { actor: '', target: '', action: '', since: '', until: '' }

export function AuditPage() {
  const { filter, setFilter, draft, change, submit } = useFilterForm(Object.keys(NONE))
  const entries = useList('/v1/audit', { query: filter })
  const clear = () => {
    change(NONE)
    setFilter(NONE)
  }
  return html`
    <${PageHeading} title="Audit"><${Export} query=${filter} /><//>
    <search>
      <form class="filters" onSubmit=${submit}>
        <${FilterField} label="Who (name or id)" name="actor" of=${draft} onInput=${change} />
        <${FilterField} label="What (name or id)" name="target" of=${draft} onInput=${change} />
        <${Choice}
          label="Action"
          value=${draft.action ?? ''}
          onInput=${(/** @type {string} */ action) => change({ action })}
          options=${[['', 'all'], ...ACTION_NAMES.map((name) => [name, actionText(name)])]}
        />
        <${TimeField} label="Since" name="since" of=${draft} onInput=${change} />
        <${TimeField} label="Before" name="until" of=${draft} onInput=${change} />
        <div class="buttons start">
          <button type="submit" class="button">Filter</button>
          <button type="button" class="button" onClick=${clear}>Clear</button>
        </div>
      </form>
    </search>
    ${entries.items.map((entry) => html`<${Entry} key=${entry.id} entry=${entry} />`)}
    <${ListEnd} of=${entries} what="Audit" none=${html`<${Empty}><p>No change matches.</p><//>`} />
  `
}

/** @param {{ query: Readonly<Record<string, string>> }} props */
function Export({ query }) {
  const [said, setSaid] = useState('')
  const { busy, refusal, run } = useAction(async () => {
    setSaid('Reading the audit…')
    const { items, hasMore } = await readList('/v1/audit', {
      query,
      isEnough: (found) => found.length >= MAX_EXPORT,
    })
    const lines = items.map((entry) => `${JSON.stringify(entry)}\n`)
    save(`audit-${new Date().toISOString().slice(0, 10)}.jsonl`, 'application/x-ndjson', lines.join(''))
    setSaid(
      `${countText(items.length, 'entry', 'entries')} saved${hasMore ? ': the newest ones. "seatgate audit export" has all' : ''}.`,
    )
  })
  return html`<span class="quiet" role="status">${refusal ? '' : said}</span>
    <button type="button" class="button" disabled=${busy} onClick=${run}>Export as JSON lines</button>
    ${refusal && html`<${Refusal} refusal=${refusal} what="Not exported" />`}`
}
