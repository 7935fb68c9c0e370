# One TCP flow over a path with a fixed delay and independent losses.
# ns calibrate.tcl LOSS RTT VARIANT ACK_EVERY SECONDS SEED RATE TRACE [WINDOW]
#   LOSS: probability, RTT: seconds, VARIANT: Reno | Newreno | Sack1, ACK_EVERY: 1 | 2, RATE: packets/s of a live source,
#   0 for a backlogged one, TRACE: 1 to write what the link does to standard output,
#   WINDOW: largest window [packets], 64
# The last line: packets sent, packets sent again, timeouts, packets acknowledged, CPU seconds without start-up.
lassign $argv loss rtt variant every seconds seed rate trace window

set ns [new Simulator]
$defaultRNG seed $seed
set sender [$ns node]
set receiver [$ns node]
$ns simplex-link $sender $receiver 10Gb [expr {$rtt / 2}] DropTail
$ns simplex-link $receiver $sender 10Gb [expr {$rtt / 2}] DropTail
$ns queue-limit $sender $receiver 100000
$ns queue-limit $receiver $sender 100000

set losses [new ErrorModel]
$losses unit pkt
$losses set rate_ $loss
set random [new RandomVariable/Uniform]
$random use-rng [new RNG]
$losses ranvar $random
$losses drop-target [new Agent/Null]
$ns lossmodel $losses $sender $receiver

set tcp [new Agent/TCP/$variant]
$tcp set window_ [expr {$window eq "" ? 64 : $window}]
$tcp set syn_ false
$tcp set delay_growth_ false
$tcp set packetSize_ 1460
$tcp set windowInit_ 2
$tcp set tcpTick_ 0.01
$tcp set minrto_ 0.2
set kind [expr {$variant eq "Sack1" ? "/Sack1" : ""}][expr {$every == 2 ? "/DelAck" : ""}]
set sink [new Agent/TCPSink$kind]
$ns attach-agent $sender $tcp
$ns attach-agent $receiver $sink
$ns connect $tcp $sink

if {$rate > 0} {
    set source [new Application/Traffic/CBR]
    $source set packetSize_ 1460
    $source set interval_ [expr {1.0 / $rate}]
    $source set random_ 0
} else {
    set source [new Application/FTP]
}
$source attach-agent $tcp
if {$trace} {
    $ns trace-queue $sender $receiver stdout
}

proc finish {} {
    global ns tcp started
    $ns flush-trace
    set acked [expr {[$tcp set ack_] + 1}]
    puts "end [$tcp set ndatapack_] [$tcp set nrexmitpack_] [$tcp set nrexmit_] $acked [expr {[times] - $started}]"
    exit 0
}
# CPU seconds of this process so far.
proc times {} {
    set file [open /proc/self/stat]
    set fields [read $file]
    close $file
    return [expr {([lindex $fields 13] + [lindex $fields 14]) / 100.0}]
}
set started [times]
$ns at 0.0 "$source start"
$ns at $seconds "finish"
$ns run
