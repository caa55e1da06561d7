{{/* Variables of a process of the distributed form. Takes the root, `name`, `callees`, `settings` and the secret `tls`. */}}
{{- define "scrip.processEnv" -}}
{{- include "scrip.mergedEnv" (dict "root" .root "settings" .settings "own" (include "scrip.ownProcessEnv" .)) -}}
{{- end -}}

{{- define "scrip.ownProcessEnv" -}}
{{- $root := .root -}}
{{- $secret := $root.Values.secrets.existingSecret -}}
{{- $fullname := include "scrip.fullname" $root -}}
{{ include "scrip.commonEnv" . }}
- name: SCRIP_DATABASE_POOL_SIZE
  value: {{ .settings.poolSize | quote }}
{{- with $root.Values.database.events }}
{{- if .existingSecret }}
{{ include "scrip.fromSecret" (dict "variable" "SCRIP_EVENTS_DATABASE_URL" "secret" .existingSecret "key" .key) }}
{{- end }}
{{- end }}
# Read again while the process runs, so that keys rotate without a restart.
- name: SCRIP_SERVICE_KEY_FILE
  value: /run/secrets/service-keys/SCRIP_SERVICE_KEY
- name: SCRIP_SERVICE_JWKS_FILE
  value: /run/secrets/service-keys/SCRIP_SERVICE_JWKS
{{- if .tls }}
- name: SCRIP_TLS_CERT_FILE
  value: /run/secrets/tls/tls.crt
- name: SCRIP_TLS_KEY_FILE
  value: /run/secrets/tls/tls.key
- name: SCRIP_TLS_CA_FILE
  value: /run/secrets/tls/ca.crt
{{- end }}
{{- range .callees }}
# All pods of the service: callers balance over them.
- name: SCRIP_{{ upper . }}_URL
  value: {{ ternary "https" "http" (ne $.tls "") }}://{{ $fullname }}-{{ . }}.{{ $root.Release.Namespace }}.svc.{{ $root.Values.clusterDomain }}:9090
{{- end }}
{{- if eq .name "gateway" }}
{{ include "scrip.edgeEnv" $root }}
{{- range list "SCRIP_MANAGEMENT_ID" "SCRIP_MANAGEMENT_TOKEN" }}
{{ include "scrip.fromSecret" (dict "variable" . "secret" $secret) }}
{{- end }}
{{- range list "SCRIP_BOOTSTRAP_APP_ID" "SCRIP_BOOTSTRAP_APP_TOKEN" "SCRIP_BOOTSTRAP_CLIENT_APP_ID" "SCRIP_BOOTSTRAP_CLIENT_TOKEN" }}
{{ include "scrip.fromSecret" (dict "variable" . "secret" $secret "optional" true) }}
{{- end }}
{{- else }}
- name: SCRIP_PORT
  value: "9090"
{{- end }}
{{- if eq .name "voucher" }}
{{ include "scrip.fromSecret" (dict "variable" "SCRIP_ASSET_SECRET" "secret" $secret) }}
{{- end }}
{{- if eq .name "validation" }}
{{ include "scrip.fromSecret" (dict "variable" "SCRIP_TRACKING_SECRET" "secret" $secret) }}
{{- end }}
{{- if eq .name "export" }}
{{ include "scrip.filesEnv" $root }}
{{- if not $root.Values.files.bucket }}
- name: SCRIP_EXPORT_FOLDER
  value: /files
{{- end }}
{{- with $root.Values.baseUrl }}
- name: SCRIP_BASE_URL
  value: {{ . | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Variables of the pod of standalone. Takes the root and `settings`. */}}
{{- define "scrip.standaloneEnv" -}}
{{- include "scrip.mergedEnv" (dict "root" .root "settings" .settings "own" (include "scrip.ownStandaloneEnv" .)) -}}
{{- end -}}

{{- define "scrip.ownStandaloneEnv" -}}
{{ include "scrip.commonEnv" . }}
{{ include "scrip.edgeEnv" .root }}
- name: SCRIP_DATA_DIR
  value: /data
- name: SCRIP_WORKERS
  value: {{ .root.Values.standalone.workers | quote }}
{{ include "scrip.filesEnv" .root }}
{{- end -}}

{{/*
The variables of a container, each name once: extraEnv of a process over that of all, and both over those of the chart.
Takes the root, `settings` and `own`, the YAML of those of the chart.
*/}}
{{- define "scrip.mergedEnv" -}}
{{- $names := list -}}
{{- $env := list -}}
{{- range concat (fromYamlArray .own) .root.Values.extraEnv .settings.extraEnv | reverse -}}
{{- if not (has .name $names) -}}
{{- $names = append $names .name -}}
{{- $env = prepend $env . -}}
{{- end -}}
{{- end -}}
{{- toYaml $env -}}
{{- end -}}

{{/* One key of an existing secret as a variable. Takes `variable`, `secret`, `key` and `optional`. */}}
{{- define "scrip.fromSecret" -}}
- name: {{ .variable }}
  valueFrom:
    secretKeyRef:
      name: {{ .secret }}
      key: {{ default .variable .key }}
      {{- if .optional }}
      optional: true
      {{- end }}
{{- end -}}

{{/* Variables that every process has, standalone too. Takes the root and `settings`. */}}
{{- define "scrip.commonEnv" -}}
{{- $values := .root.Values -}}
{{- $database := include "scrip.databaseSecret" . | fromYaml -}}
{{- $replica := include "scrip.replicaSecret" . | fromYaml -}}
{{ include "scrip.fromSecret" (dict "variable" "DATABASE_URL" "secret" $database.secret "key" $database.key) }}
{{- range $variable, $secret := dict "SCRIP_POOLER_URL" $values.database.pooler "SCRIP_REPLICA_URL" $replica }}
{{- if $secret.existingSecret }}
{{ include "scrip.fromSecret" (dict "variable" $variable "secret" $secret.existingSecret "key" $secret.key) }}
{{- end }}
{{- end }}
{{- with $values.redis }}
{{- if .existingSecret }}
{{ include "scrip.fromSecret" (dict "variable" "SCRIP_REDIS_URL" "secret" .existingSecret "key" .key) }}
{{- end }}
{{- end }}
- name: NODE_OPTIONS
  value: --max-old-space-size-percentage={{ .settings.heapPercentage }}
- name: SCRIP_HOST
  value: 0.0.0.0
- name: SCRIP_METRICS_HOST
  value: 0.0.0.0
- name: SCRIP_METRICS_PORT
  value: "9464"
- name: SCRIP_LOG_LEVEL
  value: {{ $values.logLevel }}
- name: SCRIP_DRAIN_SECONDS
  value: {{ $values.drainSeconds | quote }}
{{- with $values.kafka.brokers }}
- name: SCRIP_KAFKA_BROKERS
  value: {{ join "," . | quote }}
- name: SCRIP_KAFKA_TLS
  value: {{ $values.kafka.tls | quote }}
{{- with $values.kafka.epoch }}
- name: SCRIP_KAFKA_EPOCH
  value: {{ . | quote }}
{{- end }}
{{- with $values.kafka.sasl }}
{{- if .existingSecret }}
- name: SCRIP_KAFKA_SASL_MECHANISM
  value: {{ .mechanism }}
{{ include "scrip.fromSecret" (dict "variable" "SCRIP_KAFKA_USERNAME" "secret" .existingSecret "key" .usernameKey) }}
{{ include "scrip.fromSecret" (dict "variable" "SCRIP_KAFKA_PASSWORD" "secret" .existingSecret "key" .passwordKey) }}
{{- end }}
{{- end }}
{{- end }}
{{- if $values.certificateAuthority.existingConfigMap }}
- name: NODE_EXTRA_CA_CERTS
  value: /run/config/certificate-authority/{{ $values.certificateAuthority.key }}
{{- end }}
{{- end -}}

{{- define "scrip.edgeEnv" -}}
- name: SCRIP_PORT
  value: "8080"
- name: SCRIP_TRUSTED_PROXIES
  value: {{ .Values.trustedProxies | quote }}
{{- with .Values.baseUrl }}
- name: SCRIP_BASE_URL
  value: {{ . | quote }}
{{- end }}
{{- end -}}

{{- define "scrip.filesEnv" -}}
{{- with .Values.files }}
{{- if .bucket }}
- name: SCRIP_EXPORT_BUCKET
  value: {{ .bucket | quote }}
- name: SCRIP_EXPORT_S3_REGION
  value: {{ .region | quote }}
{{- with .s3Url }}
- name: SCRIP_EXPORT_S3_URL
  value: {{ . | quote }}
{{- end }}
{{- if .existingSecret }}
{{ include "scrip.fromSecret" (dict "variable" "AWS_ACCESS_KEY_ID" "secret" .existingSecret) }}
{{ include "scrip.fromSecret" (dict "variable" "AWS_SECRET_ACCESS_KEY" "secret" .existingSecret) }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}
