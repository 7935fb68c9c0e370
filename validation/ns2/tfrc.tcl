# Flows under TFRC on one link.
# ns tfrc.tcl RATE WAY QUEUE LOSS FLOWS SECONDS WARMUP SEED TIMER DISCOUNT SMOOTH CA FILE
#   RATE: bit/s, WAY: delay in each direction [s], QUEUE: packets, LOSS: probability before the queue, TIMER: t_RTO [s],
#   DISCOUNT, SMOOTH, CA: ns-2's options, 0 or 1: history discounting, intervals weighted as in the RFC, X_inst
#   FILE: where the bytes that are received after WARMUP are written
# The agents write p and X as they change.
lassign $argv rate way queue loss flows seconds warmup seed timer discount smooth ca file

set ns [new Simulator]
$defaultRNG seed $seed
set a [$ns node]
set b [$ns node]
$ns simplex-link $a $b $rate $way DropTail
$ns simplex-link $b $a 10Gb $way DropTail
$ns queue-limit $a $b $queue
$ns queue-limit $b $a 100000
if {$loss > 0} {
    set losses [new ErrorModel]
    $losses unit pkt
    $losses set rate_ $loss
    set random [new RandomVariable/Uniform]
    $random use-rng [new RNG]
    $losses ranvar $random
    $losses drop-target [new Agent/Null]
    $ns lossmodel $losses $a $b
}

Agent/TFRC set packetSize_ 1000
Agent/TFRC set useHeaders_ false
Agent/TFRC set df_ 0.9
Agent/TFRC set tcp_tick_ 0.001
Agent/TFRC set minrto_ $timer
Agent/TFRC set overhead_ 0.1
Agent/TFRC set printStatus_ 1
Agent/TFRC set ca_ $ca
Agent/TFRCSink set discount_ $discount
Agent/TFRCSink set smooth_ $smooth
Agent/TFRCSink set minDiscountRatio_ 0.25
Agent/TFRCSink set printLoss_ 1

set start [new RandomVariable/Uniform]
$start use-rng [new RNG]
$start set max_ 2.0
set sinks {}
for {set k 0} {$k < $flows} {incr k} {
    set sender [new Agent/TFRC]
    set sink [new Agent/TFRCSink]
    $ns attach-agent $a $sender
    $ns attach-agent $b $sink
    $ns connect $sender $sink
    lappend sinks $sink
    $ns at [$start value] "$sender start"
}

proc received {} {
    global sinks
    set bytes 0
    foreach sink $sinks { set bytes [expr {$bytes + [$sink set bytes_]}] }
    return $bytes
}
proc finish {} {
    global file before
    set out [open $file w]
    puts $out [expr {[received] - $before}]
    close $out
    exit 0
}
$ns at $warmup {set before [received]}
$ns at $seconds "finish"
$ns run
