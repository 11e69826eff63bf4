#!/usr/bin/env bash
# As `kafka`: converts KAFKA_* to server.properties, formats the storage at the first start and runs the
# broker. As kafka-TOOL.sh: runs that tool.
set -euo pipefail
java=(java ${KAFKA_HEAP_OPTS:--Xmx512m} -XX:+UseSerialGC -XX:TieredStopAtLevel=1
  -Dlog4j2.configurationFile=/opt/kafka/config/log4j2.properties -cp '/opt/kafka/libs/*')
case "${0##*/}" in
  kafka-topics.sh) exec "${java[@]}" org.apache.kafka.tools.TopicCommand "$@" ;;
  kafka-broker-api-versions.sh) exec "${java[@]}" org.apache.kafka.tools.BrokerApiVersionsCommand "$@" ;;
  kafka-storage.sh) exec "${java[@]}" kafka.tools.StorageTool "$@" ;;
esac

properties=$(mktemp)
# KAFKA_A_B is a.b, KAFKA_A__B is a_b, KAFKA_A___B is a-b.
env | grep -E '^KAFKA_' | grep -vE '^KAFKA_(HEAP_OPTS|OPTS|JVM_PERFORMANCE_OPTS|LOG4J)' \
  | sed -E 's/^KAFKA_([^=]*)=.*/\1/' | while read -r name; do
    variable="KAFKA_$name"
    property=$(sed -E 's/___/-/g; s/__/\n/g; s/_/./g' <<< "${name,,}" | paste -s -d _)
    printf '%s=%s\n' "$property" "${!variable}"
  done > "$properties"
"${java[@]}" kafka.tools.StorageTool format --ignore-formatted \
  --cluster-id "${CLUSTER_ID:-5L6g3nShT-eMCtK--X86sw}" --config "$properties"
exec "${java[@]}" kafka.Kafka "$properties"
